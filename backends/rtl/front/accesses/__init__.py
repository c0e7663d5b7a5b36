"""What the loads and stores of a block see, which must keep their order, and which banks they go to."""
