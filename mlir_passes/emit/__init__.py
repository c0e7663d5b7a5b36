"""HLS C++ from level 3, and from nothing else."""
