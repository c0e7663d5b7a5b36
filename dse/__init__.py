"""The command line `weft`, and what it drives."""
