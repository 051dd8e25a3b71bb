"""The `milepost` program: one command a verb, arguments in, exit codes out."""

import sys


def main() -> None:
    """Runs the program with the arguments of this process and exits with its code."""
    from milepost.cli.program import run

    sys.exit(run(sys.argv[1:]))
