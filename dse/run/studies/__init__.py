"""The Optuna study of a run, in its folder or in a database."""
