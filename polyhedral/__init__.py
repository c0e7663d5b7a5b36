"""isl: scops, exact dependences, the dependence graph, transforms, legality, loop trees."""
