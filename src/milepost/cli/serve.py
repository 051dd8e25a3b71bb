"""`milepost serve`: runs the service."""

import sys
from pathlib import Path

import click
from msgspec.structs import replace

from milepost.cli.commands import ExampleCommand, settings_option
from milepost.cli.endings import UsedWrongly
from milepost.cli.opened import ending
from milepost.cli.settings import loaded
from milepost.settings.sections import Settings


@click.command(cls=ExampleCommand, example="milepost serve --port 8700")
@click.option("--role", metavar="ROLE,...", help="What this process runs; all by default.")
@click.option("--host", metavar="ADDRESS", help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), help="The port to listen on; 0 takes a free one.")
@click.option("--migrate", is_flag=True, help="Bring the tables up to date first; SQLite always does.")
@settings_option
def serve(*, role: str | None, host: str | None, port: int | None, migrate: bool, settings_file: Path | None) -> None:
    """Run the service until SIGTERM or Ctrl-C; without any settings on an SQLite file in this directory."""
    settings = _with_options(loaded(settings_file).settings, role, host, port, migrate=migrate)
    from milepost.bootstrap.refusals import CannotStart
    from milepost.bootstrap.service import serve as run
    from milepost.telemetry.joins import JoinLog
    from milepost.telemetry.logs import configure

    logs = settings.logs
    plain = configure(logs.level, logs.form)
    joins = JoinLog(plain=plain) if logs.commits and logs.level in ("debug", "info") else None
    try:
        run(settings, joins, _tell)
    except CannotStart as error:
        raise ending(error) from None


def _tell(address: str) -> None:
    sys.stdout.write(f"Milepost listens on {address}\n")
    sys.stdout.flush()


def _with_options(
    settings: Settings, role: str | None, host: str | None, port: int | None, *, migrate: bool
) -> Settings:
    server, database = settings.server, settings.database
    roles = server.roles if role is None else tuple(part.strip() for part in role.split(",") if part.strip())
    if not roles:
        raise UsedWrongly("--role: no role is named")
    return replace(
        settings,
        server=replace(
            server,
            roles=roles,
            host=server.host if host is None else host,
            port=server.port if port is None else port,
        ),
        database=replace(database, migrate=database.migrate or migrate),
    )
