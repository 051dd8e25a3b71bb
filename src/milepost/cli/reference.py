"""The reference pages on commands and settings, made from what the program itself says."""

from collections.abc import Iterator
from typing import Final

import click

from milepost.cli.program import program
from milepost.settings.reading import default_text

_COMMANDS: Final = """# Commands

One program, `milepost`; `python -m milepost` is the same. Made by `scripts/reference` from its help texts.

Exit codes: 0 well, 1 found wanting, 2 used wrongly, 3 a part the command depends on is unavailable. Errors are one line
on standard error. `serve migrate tenants credentials session database doctor` open the database of the
[settings](settings.md); `tasks conflicts notices watch` and
`definitions apply list export` speak HTTP.
"""

_SETTINGS: Final = """# Settings

This is the default settings file, which is read wherever nothing else is said. Made by `scripts/reference`. An unknown
key stops the start with one line that says what and where; `milepost settings show` tells what holds and why.

```toml
"""


def commands_page() -> str:
    """The page on all commands, in Markdown."""
    return _COMMANDS + "".join(_sections(program, "milepost"))


def settings_page() -> str:
    """The page on all settings, in Markdown."""
    return f"{_SETTINGS}{default_text()}```\n"


def _sections(group: click.Group, path: str) -> Iterator[str]:
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from _sections(command, f"{path} {name}")
        else:
            yield _section(command, f"{path} {name}")


def _section(command: click.Command, path: str) -> str:
    # A fixed width: the page shall not depend on the terminal it is made in. The names of the option for help are those
    # of the program, since a command keeps the ones it was asked with first.
    context = click.Context(
        command, info_name=path, terminal_width=100, max_content_width=100, help_option_names=["-h", "--help"]
    )
    return f"\n## {path}\n\n```text\n{command.get_help(context)}\n```\n"
