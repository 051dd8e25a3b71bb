"""`milepost doctor`: checks every part the service depends on."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.cli.commands import ExampleCommand, json_option, settings_option
from milepost.cli.endings import FOUND_WANTING, UNAVAILABLE
from milepost.cli.output import print_json, printable
from milepost.settings.reading import SettingsError, load

if TYPE_CHECKING:
    from milepost.bootstrap.examining import Finding


@click.command(cls=ExampleCommand, example="milepost doctor")
@settings_option
@json_option
def doctor(*, settings_file: Path | None, as_json: bool) -> int:
    """Check settings, keys, database, disk and port, and say what to do. Exit 1: wanting, 3: a part is unavailable."""
    found = _findings(settings_file)
    if as_json:
        print_json(found)
    else:
        marks = {"ok": "ok  ", "wanting": "BAD ", "unavailable": "GONE"}
        for finding in found:
            click.echo(f"{marks[finding.state]}  {finding.check:<10}  {printable(finding.says)}")
            if finding.advice:
                click.echo(f"      {'':<10}  → {printable(finding.advice)}")
    states = {finding.state for finding in found}
    return UNAVAILABLE if "unavailable" in states else FOUND_WANTING if "wanting" in states else 0


def _findings(settings_file: Path | None) -> "list[Finding]":
    from milepost.bootstrap.examining import Finding, examine

    try:
        loaded = load(settings_file, os.environ, Path.cwd())
    except SettingsError as error:
        return [Finding("settings", "wanting", str(error), "correct it; `milepost settings show` reads it again")]
    return examine(loaded.settings)
