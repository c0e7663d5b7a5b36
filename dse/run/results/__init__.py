"""What runs have found: fronts, histories, one run against another."""
