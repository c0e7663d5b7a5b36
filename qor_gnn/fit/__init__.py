"""Calibration of the model to labelled designs, and whether a tool comes to an end with one."""
