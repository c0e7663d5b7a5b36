"""Passes over level 3: frozen records with a name and ``apply(module)``, one in each file."""
