"""What nests of a program do, which orders of their loops are legal, and which factors are worth trying."""
