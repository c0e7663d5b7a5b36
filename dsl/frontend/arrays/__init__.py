"""Elements, parts and whole arrays: subscripts, slices, names of parts, expressions of arrays, tables."""
