"""What takes a design further: verification, Vitis HLS projects, devices, external tools."""
