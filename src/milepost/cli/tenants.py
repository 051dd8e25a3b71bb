"""`milepost tenants`: each tenant is a world of its own, with its own stream."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from milepost.cli.commands import Group, json_option, settings_option
from milepost.cli.opened import checked_id, with_database
from milepost.cli.output import print_json

if TYPE_CHECKING:
    from milepost.bootstrap.databases import Database
    from milepost.settings.sections import Settings


@click.group(cls=Group, example="milepost tenants create acme")
def tenants() -> None:
    """Make and list tenants."""


@tenants.command(example="milepost tenants create acme")
@click.argument("tenant")
@settings_option
@json_option
def create(tenant: str, settings_file: Path | None, as_json: bool) -> None:
    """Make a tenant with its stream; one that exists is left as it is."""
    from milepost.clock import SystemClock

    checked_id(tenant, "TENANT")

    async def work(database: "Database", _: "Settings") -> bool:
        return await database.access.add_tenant(tenant, SystemClock().now())

    made = with_database(settings_file, work)
    if as_json:
        print_json({"tenantId": tenant, "created": made})
    else:
        click.echo(f"{tenant}: {'made' if made else 'exists already'}")


@tenants.command("list", example="milepost tenants list --json")
@settings_option
@json_option
def list_(settings_file: Path | None, as_json: bool) -> None:
    """List all tenants."""

    async def work(database: "Database", _: "Settings") -> tuple[str, ...]:
        return await database.access.tenants()

    found = with_database(settings_file, work)
    if as_json:
        print_json([{"tenantId": tenant} for tenant in found])
    else:
        for tenant in found:
            click.echo(tenant)
