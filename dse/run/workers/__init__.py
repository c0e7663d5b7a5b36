"""Where evaluations take place: here, in processes, on a cluster, on other machines."""
