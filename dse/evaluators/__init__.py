"""What a design costs, by one interface whatever gives the answer."""
