"""From a schedule to loops: isl builds them, and they are proven to run as scheduled."""
