"""`milepost demo`: the demonstration that `make demo` starts."""

import importlib
from pathlib import Path

import click

from milepost.cli.commands import ExampleCommand, settings_option


@click.command(cls=ExampleCommand, example="milepost demo --once --fast")
@click.option("--port", type=click.IntRange(1, 65_535), help="The server's port; 8700, or a free one if it is taken.")
@click.option("--once", is_flag=True, help="End when all documents are through.")
@click.option("--fast", is_flag=True, help="Do not slow down for people.")
@settings_option
def demo(*, port: int | None, once: bool, fast: bool, settings_file: Path | None) -> int:
    """Start a server and workers that read real documents, and print a link to watch them. Ctrl-C ends it all."""
    given = {"--port": port, "--settings": settings_file}
    arguments = [text for name, value in given.items() if value is not None for text in (name, str(value))]
    arguments += [name for name, wanted in (("--once", once), ("--fast", fast)) if wanted]
    # The demonstration is a user like any other: nothing in production may import it, so it is looked up by name.
    ended = importlib.import_module("milepost.demo").run(arguments)
    return ended if isinstance(ended, int) else 0
