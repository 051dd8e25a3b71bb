"""`milepost conflicts`: terminal facts that contradicted an end, for operators to look into."""

from typing import TYPE_CHECKING, Final

import click

from milepost.cli.commands import Group, json_option, remote_options
from milepost.cli.output import print_json, print_table
from milepost.cli.remote import operating

if TYPE_CHECKING:
    from milepost.wire.operating import ConflictView


@click.group(cls=Group, example="milepost conflicts list")
def conflicts() -> None:
    """List conflicts and settle them. A conflict never changes its task by itself."""


@conflicts.command("list", example="milepost conflicts list --state all --json")
@click.option("--state", type=click.Choice(["open", "resolved", "all"]), default="open", show_default=True)
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="How many at most.")
@remote_options
@json_option
def list_(state: str, limit: int, url: str, token: str | None, as_json: bool) -> None:
    """List conflicts, newest first."""
    found: list[ConflictView] = []
    with operating(url, token) as client:
        more: str | None = None
        while len(found) < limit:
            page = client.conflicts(state=state, cursor=more, limit=min(200, limit))
            found += page.items
            more = page.next_cursor
            if more is None:
                break
    found = found[:limit]
    if as_json:
        print_json({"items": found})
    else:
        print_table(_HEADINGS, [_row(conflict) for conflict in found])


@conflicts.command(example='milepost conflicts resolve 7f3c.end --note "the worker ran twice"')
@click.argument("event_id", metavar="EVENT")
@click.option("--note", required=True, metavar="TEXT", help="What was found; goes into the audit log.")
@remote_options
@json_option
def resolve(event_id: str, note: str, url: str, token: str | None, as_json: bool) -> None:
    """Settle the conflict of an event; the task stays as it is, `milepost tasks correct` changes it."""
    with operating(url, token) as client:
        settled = client.resolve(event_id, note)
    if as_json:
        print_json(settled)
    else:
        click.echo(f"{event_id}: resolved by {settled.resolved_by} at {settled.resolved_at}: {settled.note}")


_HEADINGS: Final = ("event", "task", "step", "said", "producer", "while", "received", "state", "note")


def _row(conflict: "ConflictView") -> tuple[object, ...]:
    return (
        conflict.event_id,
        conflict.task_id,
        conflict.step_id,
        conflict.event_type,
        conflict.producer_id,
        conflict.step_lifecycle_status or conflict.lifecycle_status,
        conflict.received_at,
        conflict.state,
        conflict.note,
    )
