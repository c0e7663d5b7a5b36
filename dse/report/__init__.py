"""The report of a run: what was found, as one HTML page that needs nothing else."""
