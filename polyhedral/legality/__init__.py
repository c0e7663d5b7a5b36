"""What is refused, and why: programs that access what is not there, orders that are wrong."""
