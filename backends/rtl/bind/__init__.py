"""Which hardware does which operation, where operations can share it."""
