"""The open backend: from level 3 to Verilog, its cycles, and post-route numbers by open tools."""
