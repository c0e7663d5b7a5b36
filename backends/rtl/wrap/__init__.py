"""Wrappers around a kernel's memory ports: banks on the chip behind a host bus, AXI4-Lite."""
