"""Steps that change what arrays there are, and how they lie in memories."""
