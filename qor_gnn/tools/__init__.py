"""Tool versions: what each does at one clock on one device family, as data, and the types that read it."""
