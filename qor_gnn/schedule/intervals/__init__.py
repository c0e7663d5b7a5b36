"""What the interval of a pipeline is: ports, and what iterations hand on to later ones."""
