"""A design on a board: a host program for it, and the scripts that build what the host loads."""
