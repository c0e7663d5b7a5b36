"""A program as isl sees it (`Scop`), alone and under a schedule (`ScheduledScop`)."""
