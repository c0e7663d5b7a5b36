"""Partitioned arrays: where their elements lie, and which banks the copies of a body want."""
