"""Lower bounds on the latency of any schedule of a kernel."""
