"""Programs: loops, conditions and statements over declared arrays, and rewritings of them."""
