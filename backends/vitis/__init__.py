"""Vitis HLS: projects with testbench and scripts, runs of the tool, parsing of its reports."""
