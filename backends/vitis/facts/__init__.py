"""What reports in a folder of a Vitis HLS or Vivado HLS project say of single operators, and of whole designs."""
