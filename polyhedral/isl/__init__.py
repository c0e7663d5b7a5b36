"""isl, as the rest of this package uses it: text, points of sets, a limit of its work."""
