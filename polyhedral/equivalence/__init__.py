"""Translation validation: does a program of affine loops do what the kernel's program does?

The loops come from level 3 as plain data (`raised`); what they are compared with is the program as
it was written, not what schedules and code generation made of it.
"""
