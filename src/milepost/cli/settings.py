"""`milepost settings`: what holds, and where it comes from."""

import os
from pathlib import Path
from typing import Any

import click

from milepost.cli.commands import Group, json_option, settings_option
from milepost.cli.endings import UsedWrongly
from milepost.cli.output import print_json
from milepost.settings.reading import Loaded, SettingsError, load
from milepost.settings.showing import plain, toml


def loaded(settings_file: Path | None) -> Loaded:
    """The settings of this command. Raises `UsedWrongly` with the line that says what is wrong and where."""
    try:
        return load(settings_file, os.environ, Path.cwd())
    except SettingsError as error:
        raise UsedWrongly(str(error)) from None


@click.group(cls=Group, example="milepost settings show")
def settings() -> None:
    """See the settings that hold."""


@settings.command(example="MILEPOST_SERVER__PORT=9000 milepost settings show")
@settings_option
@json_option
def show(settings_file: Path | None, as_json: bool) -> None:
    """Show the effective settings, secrets hidden, and where each changed one comes from."""
    found = loaded(settings_file)
    if as_json:
        print_json(_with_origins(found))
    else:
        click.echo(toml(found), nl=False)


def _with_origins(found: Loaded) -> dict[str, Any]:
    origins = {".".join(path): origin for path, origin in found.origins.items()}
    return {"file": str(found.file) if found.file else None, "settings": plain(found.settings), "origins": origins}
