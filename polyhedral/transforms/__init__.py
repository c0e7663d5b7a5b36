"""One file a step: ``transform(state, step) -> state``, structure only.

Whether the new order is legal is asked once, in `polyhedral.schedule`, of the state that results.
"""
