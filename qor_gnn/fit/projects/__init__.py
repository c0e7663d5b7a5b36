"""Calibration to a user's own projects of Vitis HLS: facts of their reports, judged on projects left out."""
