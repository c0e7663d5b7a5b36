"""The C++ headers that emitted kernels include where they need them."""
