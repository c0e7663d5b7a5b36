"""What is read of a design: regions, memories, directives, channels."""
