"""The kernels, one file a style: each with the schedules of an expert, and which are variants."""
