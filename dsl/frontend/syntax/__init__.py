"""What Python's syntax says before any name is known: the source, and how idioms are written in plainer Python."""
