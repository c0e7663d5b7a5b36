"""How points are chosen: POM's two stages, samplers, and their combination."""
