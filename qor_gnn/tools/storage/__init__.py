"""What memories cost on the silicon that a tool tells apart: laws, as data."""
