"""Types, typed expressions and quasi-affine expressions, and their exact arithmetic."""
