"""The `milepost` program: one command a verb, arguments in, exit codes out."""
