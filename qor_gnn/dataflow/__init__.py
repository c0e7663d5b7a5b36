"""Dataflow regions in time: processes, tokens, channels."""
