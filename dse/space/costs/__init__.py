"""What nests and designs take, about, to rank vectors of factors."""
