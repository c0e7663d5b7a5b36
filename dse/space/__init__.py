"""The design space of a kernel: schedules that are legal by construction."""
