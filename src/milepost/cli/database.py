"""`milepost migrate` and `milepost database`: the tables, and the life of the database."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.cli.commands import ExampleCommand, Group, json_option, settings_option
from milepost.cli.endings import FoundWanting
from milepost.cli.opened import ending, with_database
from milepost.cli.output import print_json
from milepost.cli.settings import loaded

if TYPE_CHECKING:
    from milepost.bootstrap.databases import Database
    from milepost.settings.sections import Settings


@click.command(cls=ExampleCommand, example="milepost migrate --check")
@click.option("--check", is_flag=True, help="Change nothing; exit 1 if the tables are behind.")
@click.option("--sql", is_flag=True, help="Change nothing; print the statements.")
@settings_option
def migrate(check: bool, sql: bool, settings_file: Path | None) -> None:
    """Bring the database's tables to those of this version, forward only, while others use it."""
    from milepost.bootstrap import databases
    from milepost.bootstrap.refusals import CannotStart

    settings = loaded(settings_file).settings
    try:
        if sql:
            click.echo(databases.migration_sql(settings), nl=False)
        elif databases.is_current(settings):
            click.echo("the tables are current")
        elif check:
            raise FoundWanting("the tables are behind this version; `milepost migrate` brings them up to date")
        else:
            databases.migrate(settings)
            click.echo("the tables were brought up to date")
    except CannotStart as error:
        raise ending(error) from None


@click.group(cls=Group, example="milepost database restored")
def database() -> None:
    """Tell the service what happened to its database."""


@database.command(example="milepost database restored")
@settings_option
@json_option
def restored(settings_file: Path | None, as_json: bool) -> None:
    """Begin a new epoch after a backup was restored: every viewer drops what it knew and takes a snapshot."""

    async def work(opened: "Database", _: "Settings") -> str:
        return await opened.storage.renew_epoch(await opened.storage.epoch())

    epoch = with_database(settings_file, work)
    if as_json:
        print_json({"epoch": epoch})
    else:
        click.echo(f"the epoch is now {epoch}")
