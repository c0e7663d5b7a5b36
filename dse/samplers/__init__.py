"""The strategies as samplers of Optuna: which point a trial is about."""
