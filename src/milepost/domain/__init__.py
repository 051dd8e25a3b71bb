"""The rules: what a fact does to a task. Pure: data in, data out; no I/O, no clock, no randomness."""
