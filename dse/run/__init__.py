"""The state of an exploration: its folder, the results in it, and the study."""
