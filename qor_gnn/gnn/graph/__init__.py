"""The graph of a design: nodes, edges and their features."""
