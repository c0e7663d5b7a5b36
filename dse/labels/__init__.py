"""Labelled designs: sampled schedules of kernels, through the open flow into a dataset."""
