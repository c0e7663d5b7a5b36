"""Elements that stay in registers around a loop, or from one of its iterations to the next."""
