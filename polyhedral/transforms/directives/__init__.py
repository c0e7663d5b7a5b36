"""Steps that leave all loops as they are, and ask the HLS tool for something."""
