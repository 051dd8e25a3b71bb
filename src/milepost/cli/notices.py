"""`milepost notices`: the notification centre from a terminal."""

from typing import TYPE_CHECKING, Final

import click

from milepost.cli.commands import Group, json_option, remote_options
from milepost.cli.endings import UsedWrongly
from milepost.cli.output import print_json, print_table
from milepost.cli.remote import remote

if TYPE_CHECKING:
    from milepost.wire.notifications import NotificationView

_LIST: Final = ("READ", "LEVEL", "TYPE", "TASK", "TITLE", "MESSAGE", "AT", "ID")


@click.group(cls=Group, example="milepost notices list --unread")
def notices() -> None:
    """List notifications and mark them as read."""


@notices.command("list", example="milepost notices list --unread --json")
@click.option("--unread", is_flag=True, help="Only those that were not read.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="How many at most.")
@remote_options
@json_option
def list_(unread: bool, limit: int, url: str, token: str | None, as_json: bool) -> None:
    """List notifications, newest first."""
    found: list[NotificationView] = []
    with remote(url, token) as client:
        page = client.notifications(unread=unread, limit=min(200, limit))
        count, found = page.unread_count, [*page.items]
        while page.next_cursor is not None and len(found) < limit:
            page = client.notifications(unread=unread, cursor=page.next_cursor, limit=min(200, limit))
            found += page.items
    found = found[:limit]
    if as_json:
        print_json({"items": found, "unreadCount": count})
        return
    print_table(_LIST, [_row(item) for item in found])
    click.echo(f"{count} unread")


@notices.command(example="milepost notices read --all")
@click.argument("notice_ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="All there are now.")
@remote_options
@json_option
def read(notice_ids: tuple[str, ...], every: bool, url: str, token: str | None, as_json: bool) -> None:
    """Mark notifications as read, on all devices."""
    if bool(notice_ids) == every:
        raise UsedWrongly("give ids or --all, one of the two")
    marked = 0
    with remote(url, token) as client:
        if every:
            marked = client.mark_read(up_to=client.notifications(limit=1).stream_cursor)
        for start in range(0, len(notice_ids), 200):
            marked += client.mark_read(*notice_ids[start : start + 200])
    if as_json:
        print_json({"marked": marked})
    else:
        click.echo(f"{marked} marked as read")


def _row(item: "NotificationView") -> tuple[object, ...]:
    read_at = "" if item.read_at is None else "yes"
    return (read_at, item.level, item.type, item.task_id, item.title, item.message, item.created_at, item.id)
