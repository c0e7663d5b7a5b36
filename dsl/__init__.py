"""The language: programs, types, expressions, schedules as data, errors with source spans."""
