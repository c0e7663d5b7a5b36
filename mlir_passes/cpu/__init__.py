"""Level 3 on the CPU: lowered to LLVM and run."""
