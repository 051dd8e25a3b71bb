"""`milepost session`: signs somebody in without the host product, for trying out and for operators."""

from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from milepost.cli.commands import Group, json_option, settings_option
from milepost.cli.endings import FoundWanting, UsedWrongly
from milepost.cli.opened import checked_id, escaped_id, with_database
from milepost.cli.output import print_json
from milepost.settings.values import Duration

if TYPE_CHECKING:
    from milepost.bootstrap.databases import Database
    from milepost.ports.access import Role
    from milepost.settings.sections import Settings
    from milepost.usecases.sessions import Grant


@click.group(cls=Group, example="milepost session create --tenant acme --user alice")
def session() -> None:
    """Sign somebody in."""


@session.command(example="milepost session create --tenant acme --user alice --project alpha --json")
@click.option("--tenant", required=True, metavar="ID", help="The tenant; it must exist.")
@click.option("--user", required=True, metavar="ID", help="The user; a mail address will do.")
@click.option("--project", "projects", multiple=True, metavar="ID", help="A project of this user; may be repeated.")
@click.option(
    "--role",
    "roles",
    multiple=True,
    type=click.Choice(["member", "admin", "operator"]),
    default=["member"],
    show_default=True,
    help="A role; may be repeated.",
)
@click.option("--ttl", default="1h", show_default=True, metavar="TIME", help="How long it lasts, at most 24h.")
@click.option("--url", envvar="MILEPOST_URL", metavar="URL", help="The service's address in the link.")
@settings_option
@json_option
def create(
    *,
    tenant: str,
    user: str,
    projects: tuple[str, ...],
    roles: tuple[str, ...],
    ttl: str,
    url: str | None,
    settings_file: Path | None,
    as_json: bool,
) -> None:
    """Print a session's token, and a link that opens the console signed in, once, within ten minutes."""
    from milepost.usecases.sessions import Grant

    grant = Grant(
        checked_id(tenant, "--tenant"),
        escaped_id(user, "--user"),
        frozenset(checked_id(project, "--project") for project in projects),
        frozenset(cast("tuple[Role, ...]", roles)),
        _seconds(ttl),
    )
    token, link = with_database(settings_file, lambda database, settings: _made(database, settings, grant, url))
    if as_json:
        print_json({"token": token, "link": link})
    else:
        click.echo(f"token  {token}\nlink   {link}")


async def _made(database: "Database", settings: "Settings", grant: "Grant", url: str | None) -> tuple[str, str]:
    from milepost.clock import SystemClock
    from milepost.usecases.sessions import audit, make_link_code, mint

    if not await database.access.has_tenant(grant.tenant_id):
        raise FoundWanting(
            f"there is no tenant {grant.tenant_id}; `milepost tenants create {grant.tenant_id}` makes it"
        )
    clock = SystemClock()
    minted = await mint(database.access, clock, grant)
    code = await make_link_code(database.access, clock, grant)
    await audit(database.access, clock, "cli", minted.session, "session.minted")
    return minted.token, f"{(url or _address(settings)).rstrip('/')}/#code={code}"


def _address(settings: "Settings") -> str:
    """Where people reach the service, as far as the settings tell."""
    server = settings.server
    if server.public_url:
        return server.public_url
    host = "127.0.0.1" if server.host in ("", "0.0.0.0", "::") else server.host  # noqa: S104  compared, not bound
    return f"http://{f'[{host}]' if ':' in host else host}:{server.port}"


def _seconds(ttl: str) -> int:
    try:
        length = Duration.parse(ttl)
    except ValueError as error:
        raise UsedWrongly(f"--ttl: {error}") from None
    if not 1_000 <= length <= 24 * 3_600_000:
        raise UsedWrongly("--ttl: a session lasts a second at least and 24h at most")
    return length // 1000
