"""What all commands share: an example in every help text, and the options that several take."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_URL: Final = "http://127.0.0.1:8700"


class ExampleCommand(click.Command):
    """A command whose help ends with one example."""

    def __init__(self, *args: Any, example: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the example below the options."""
        with formatter.section("Example"):
            formatter.write(f"{' ' * formatter.current_indent}{self.example}\n")


class Group(click.Group):
    """A group of such commands; its own help names an example too."""

    command_class = ExampleCommand

    def __init__(self, *args: Any, example: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.example = example

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the example below the commands."""
        with formatter.section("Example"):
            formatter.write(f"{' ' * formatter.current_indent}{self.example}\n")


Group.group_class = Group


def json_option(function: F) -> F:
    """`--json`: for programs instead of for people."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def settings_option(function: F) -> F:
    """`--settings FILE`."""
    return click.option(
        "--settings",
        "settings_file",
        metavar="FILE",
        type=click.Path(path_type=Path),
        help="Settings file; else MILEPOST_SETTINGS, else ./milepost.toml.",
    )(function)


def remote_options(function: F) -> F:
    """`--url` and `--token`, for commands that speak HTTP."""
    token = click.option(
        "--token", envvar="MILEPOST_TOKEN", metavar="TOKEN", help="Session token; else MILEPOST_TOKEN."
    )
    url = click.option(
        "--url",
        envvar="MILEPOST_URL",
        metavar="URL",
        default=DEFAULT_URL,
        show_default=True,
        help="Address of the service; else MILEPOST_URL.",
    )
    return url(token(function))
