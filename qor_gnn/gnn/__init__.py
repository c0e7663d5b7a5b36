"""The hierarchical graph neural network: graphs of designs, the network, its training."""
