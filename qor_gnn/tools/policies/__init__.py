"""What a tool version does of its own, one file for each stage of the model that asks."""
