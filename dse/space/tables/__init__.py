"""Structures by their arrays: copies, mirrors, shift registers, line buffers and windows."""
