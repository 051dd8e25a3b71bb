"""`milepost credentials`: how services prove who they are. A secret is shown once and stored as a hash."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import click

from milepost.cli.commands import Group, json_option, settings_option
from milepost.cli.endings import FoundWanting, UsedWrongly
from milepost.cli.opened import checked_id, with_database
from milepost.cli.output import print_fields, print_json, print_table

if TYPE_CHECKING:
    from milepost.bootstrap.databases import Database
    from milepost.ports.access import Credential, Right, Role
    from milepost.settings.sections import Settings


@click.group(cls=Group, example="milepost credentials create --producer document-parser --tenant acme")
def credentials() -> None:
    """Make, list and revoke the credentials of services."""


@credentials.command(example="milepost credentials create --producer coordinator --tenant acme --can report,coordinate")
@click.option("--producer", required=True, metavar="ID", help="The service that will report under this credential.")
@click.option("--tenant", metavar="ID", help="The tenant it belongs to; made if it is new.")
@click.option("--all-tenants", is_flag=True, help="For every tenant; requests name it by the header Milepost-Tenant.")
@click.option("--can", default="report", show_default=True, metavar="RIGHT,...", help="What it may do.")
@click.option(
    "--roles-up-to",
    type=click.Choice(["member", "admin", "operator"]),
    default="member",
    show_default=True,
    help="The highest role of sessions it may mint.",
)
@click.option("--no-tenant", is_flag=True, help="Refuse a tenant that does not exist.")
@settings_option
@json_option
def create(
    *,
    producer: str,
    tenant: str | None,
    all_tenants: bool,
    can: str,
    roles_up_to: str,
    no_tenant: bool,
    settings_file: Path | None,
    as_json: bool,
) -> None:
    """Make a credential and print its secret, this once."""
    if (tenant is None) != all_tenants:
        raise UsedWrongly("give either --tenant or --all-tenants")
    checked_id(producer, "--producer")
    if tenant is not None:
        checked_id(tenant, "--tenant")
    rights = _rights(can)
    role = cast("Role", roles_up_to)
    credential, text = with_database(
        settings_file, lambda database, _: _made(database, producer, tenant, rights, role, make=not no_tenant)
    )
    shown: dict[str, Any] = _shown(credential) | {"secret": text}
    if as_json:
        print_json(shown)
    else:
        print_fields([(name, _text(value)) for name, value in shown.items()])


async def _made(
    database: "Database", producer: str, tenant: str | None, rights: "frozenset[Right]", role: "Role", *, make: bool
) -> "tuple[Credential, str]":
    from milepost.clock import SystemClock
    from milepost.ports.access import AuditEntry, Credential
    from milepost.tokens import secrets

    now = SystemClock().now()
    if tenant is not None and not await database.access.has_tenant(tenant):
        if not make:
            raise FoundWanting(f"there is no tenant {tenant}; `milepost tenants create {tenant}` makes it")
        await database.access.add_tenant(tenant, now)
    secret = secrets.make("mpc")
    credential = Credential(secret.id, secret.hash, producer, tenant, rights, role, now)
    await database.access.add_credential(credential)
    await database.access.audit(AuditEntry(tenant or "", "cli", "credential.created", secret.id, "{}", now))
    return credential, secret.text


@credentials.command("list", example="milepost credentials list")
@settings_option
@json_option
def list_(settings_file: Path | None, as_json: bool) -> None:
    """List credentials, without their secrets."""

    async def work(database: "Database", _: "Settings") -> "tuple[Credential, ...]":
        return await database.access.credentials()

    found = [_shown(credential) for credential in with_database(settings_file, work)]
    if as_json:
        print_json(found)
    else:
        headings = ("credentialId", "producerId", "tenantId", "rights", "rolesUpTo", "createdAt", "revokedAt")
        print_table(headings, [[_text(shown[name]) for name in headings] for shown in found])


@credentials.command(example="milepost credentials revoke 0123456789abcdef")
@click.argument("credential_id", metavar="ID")
@settings_option
@json_option
def revoke(credential_id: str, settings_file: Path | None, as_json: bool) -> None:
    """Revoke a credential; within seconds no process takes it any more."""
    from milepost.clock import SystemClock
    from milepost.ports.access import AuditEntry

    async def work(database: "Database", _: "Settings") -> bool:
        now = SystemClock().now()
        done = await database.access.revoke_credential(credential_id, now)
        if done:
            await database.access.audit(AuditEntry("", "cli", "credential.revoked", credential_id, "{}", now))
        return done

    if not with_database(settings_file, work):
        raise FoundWanting(f"there is no credential {credential_id} in force")
    if as_json:
        print_json({"credentialId": credential_id, "revoked": True})
    else:
        click.echo(f"{credential_id}: revoked")


def _rights(said: str) -> "frozenset[Right]":
    from milepost.ports.access import Right

    known = cast("tuple[Right, ...]", get_args(Right))
    asked = [part.strip() for part in said.split(",") if part.strip()]
    wrong = [name for name in asked if name not in known]
    if wrong or not asked:
        raise UsedWrongly(f"--can: {', '.join(wrong) or 'nothing'} is no right; there are {', '.join(known)}")
    return frozenset(right for right in known if right in asked)


def _shown(credential: "Credential") -> dict[str, Any]:
    from milepost.wire.numbers import instant, instant_or_none

    return {
        "credentialId": credential.credential_id,
        "producerId": credential.producer_id,
        "tenantId": credential.tenant_id,
        "rights": sorted(credential.rights),
        "rolesUpTo": credential.roles_up_to,
        "createdAt": instant(credential.created_at),
        "revokedAt": instant_or_none(credential.revoked_at),
    }


def _text(value: object) -> object:
    return ",".join(cast("list[str]", value)) if isinstance(value, list) else value
