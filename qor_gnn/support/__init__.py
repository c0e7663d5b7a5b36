"""How far a design keeps to what labels of its tool show: features, labelled maxima, perturbed rules."""
