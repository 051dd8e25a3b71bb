"""`milepost demo`: the demonstration that `make demo` starts."""

import importlib

import click

from milepost.cli.commands import ExampleCommand


@click.command(
    cls=ExampleCommand,
    example="milepost demo",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS]")
def demo(arguments: tuple[str, ...]) -> int:
    """Start a server and workers that do real work, and print a link to watch it. Ctrl-C ends it."""
    # The demonstration is a user like any other: nothing in production may import it, so it is looked up by name.
    ended = importlib.import_module("milepost.demo").run(list(arguments))
    return ended if isinstance(ended, int) else 0
