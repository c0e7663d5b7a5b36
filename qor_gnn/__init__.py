"""Quality of results: the white-box schedule model, and what learns on top of it."""
