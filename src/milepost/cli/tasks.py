"""`milepost tasks`: the viewers' API from a terminal."""

from typing import TYPE_CHECKING, Any, Final

import click

from milepost.cli.commands import Group, json_option, remote_options
from milepost.cli.endings import FoundWanting, UsedWrongly
from milepost.cli.output import print_csv, print_fields, print_json, print_table
from milepost.cli.remote import operating, remote

if TYPE_CHECKING:
    from milepost.wire.messages import TimelineItem
    from milepost.wire.views import StepView, TaskProgressView, TaskView

_LIFECYCLES: Final = ("PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "TIMED_OUT")
_ENDS: Final = ("SUCCEEDED", "FAILED", "CANCELLED", "TIMED_OUT")
_csv_option = click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")


@click.group(cls=Group, example="milepost tasks list --status RUNNING")
def tasks() -> None:
    """List, show, cancel and correct tasks."""


@tasks.command("list", example="milepost tasks list --status RUNNING --json")
@click.option("--status", type=click.Choice(_LIFECYCLES, case_sensitive=False), help="Only tasks in this lifecycle.")
@click.option("--type", "task_type", metavar="TYPE", help="Only tasks of this type.")
@click.option("--project", metavar="ID", help="Only tasks of this project.")
@click.option("--text", metavar="TEXT", help="Only tasks with this text in title or id.")
@click.option("--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, help="How many at most.")
@remote_options
@json_option
@_csv_option
def list_(
    *,
    status: str | None,
    task_type: str | None,
    project: str | None,
    text: str | None,
    limit: int,
    url: str,
    token: str | None,
    as_json: bool,
    as_csv: bool,
) -> None:
    """List tasks, newest first."""
    _one_form(as_json, as_csv)
    found: list[TaskView] = []
    with remote(url, token) as client:
        more: str | None = None
        while len(found) < limit:
            page = client.tasks(
                lifecycle=status, type=task_type, project=project, text=text, cursor=more, limit=min(200, limit)
            )
            found += page.items
            more = page.next_cursor
            if more is None:
                break
    found = found[:limit]
    if as_json:
        print_json({"items": found})
    elif as_csv:
        print_csv(_LIST, [_row(task) for task in found])
    else:
        print_table(_LIST, [_row(task) for task in found])


@tasks.command(example="milepost tasks show contract-7")
@click.argument("task_id", metavar="TASK")
@click.option("--attempts", type=click.Choice(["current", "all"]), default="current", show_default=True)
@remote_options
@json_option
def show(task_id: str, attempts: str, url: str, token: str | None, as_json: bool) -> None:
    """Show one task with its steps."""
    with remote(url, token) as client:
        found = client.task(task_id, all_attempts=attempts == "all")
    if as_json:
        print_json(found)
        return
    print_fields(_fields(found.task))
    click.echo()
    print_table(_STEPS, [_step_row(step) for step in found.steps])


@tasks.command(example="milepost tasks events contract-7 --csv")
@click.argument("task_id", metavar="TASK")
@click.option("--after", type=click.IntRange(0), default=0, help="Only events with a version above this.")
@remote_options
@json_option
@_csv_option
def events(task_id: str, after: int, url: str, token: str | None, as_json: bool, as_csv: bool) -> None:
    """Print a task's timeline: every version with the fact that made it."""
    _one_form(as_json, as_csv)
    with remote(url, token) as client:
        found = list(client.timeline(task_id, after=after))
    if as_json:
        print_json({"items": found})
    elif as_csv:
        print_csv(_EVENTS, [_event_row(item) for item in found])
    else:
        print_table(_EVENTS, [_event_row(item) for item in found])


@tasks.command(example="milepost tasks cancel contract-7")
@click.argument("task_id", metavar="TASK")
@remote_options
@json_option
def cancel(task_id: str, url: str, token: str | None, as_json: bool) -> None:
    """Ask for a task to be cancelled; its coordinator confirms. Exit 1 if it has ended already."""
    with remote(url, token) as client:
        answer = client.request_cancel(task_id)
    if as_json:
        print_json(answer)
    elif answer.accepted:
        click.echo(f"{task_id}: the request was noted; the task is {answer.lifecycle_status}")
    if not answer.accepted:
        raise FoundWanting(f"{task_id} has ended already: {answer.lifecycle_status}")


@tasks.command(
    example='milepost tasks correct contract-7 --to SUCCEEDED --expected-version 12 --reason "the file is there"'
)
@click.argument("task_id", metavar="TASK")
@click.option("--to", type=click.Choice(_ENDS, case_sensitive=False), required=True, help="The end it has in truth.")
@click.option("--business-status", metavar="CODE", help="The business status; by default that of the end.")
@click.option("--reason", required=True, metavar="TEXT", help="Why; goes into the timeline and the audit log.")
@click.option(
    "--expected-version",
    type=click.IntRange(1),
    required=True,
    help="The version this was judged on, as `milepost tasks show` prints it.",
)
@remote_options
@json_option
def correct(
    *,
    task_id: str,
    to: str,
    business_status: str | None,
    reason: str,
    expected_version: int,
    url: str,
    token: str | None,
    as_json: bool,
) -> None:
    """Set a task to the end it has in truth; for operators. Exit 1 if it has moved on meanwhile."""
    with operating(url, token) as client:
        answer = client.correct(
            task_id, to, reason=reason, expected_version=expected_version, business_status=business_status
        )
    if as_json:
        print_json(answer)
    else:
        was = answer.previous.lifecycle_status
        click.echo(f"{task_id}: {was} -> {answer.lifecycle_status}, version {answer.task_version}")


def _one_form(as_json: bool, as_csv: bool) -> None:
    if as_json and as_csv:
        raise UsedWrongly("give either --json or --csv")


_LIST: Final = ("id", "type", "status", "progress", "health", "step", "created", "title")


def _row(task: "TaskView") -> tuple[object, ...]:
    return (
        task.id,
        task.task_type,
        _status(task.lifecycle_status, task.business_status),
        _percent(task.progress),
        task.health,
        task.current_step,
        task.created_at,
        task.title,
    )


def _fields(task: "TaskView") -> list[tuple[str, object]]:
    failure = task.failure
    return [
        ("id", task.id),
        ("title", task.title),
        ("type", task.task_type),
        ("status", _status(task.lifecycle_status, task.business_status)),
        ("health", task.health),
        ("progress", _percent(task.progress)),
        ("attempt", task.attempt),
        ("version", task.version),
        ("owner", task.owner_id),
        ("project", task.project_id),
        ("created", task.created_at),
        ("started", task.started_at),
        ("finished", task.finished_at),
        ("cancel requested", task.cancel_requested_at),
        ("failure", f"{failure.code}: {failure.user_message or ''} ({failure.step_id or ''})" if failure else None),
        ("result", f"{task.result_ref.id} {task.result_ref.title or ''}" if task.result_ref else None),
    ]


_STEPS: Final = ("step", "attempt", "operation", "producer", "status", "progress", "health", "duration", "message")


def _step_row(step: "StepView") -> tuple[object, ...]:
    progress = step.progress
    told = f"{progress.current}/{progress.total or '?'} {progress.unit or ''}" if progress else step.stage
    return (
        step.id,
        step.attempt,
        step.operation_code,
        step.producer_id,
        _status(step.lifecycle_status, step.business_status),
        told,
        step.health,
        None if step.duration_ms is None else f"{step.duration_ms / 1000:.1f} s",
        f"{step.error.code}: {step.error.user_message or ''}" if step.error else step.message,
    )


_EVENTS: Final = ("version", "event", "step", "attempt", "producer", "status", "committed", "eventId", "error")


def _event_row(item: "TimelineItem") -> tuple[object, ...]:
    return (
        item.task_version,
        item.event_type,
        item.step_id,
        item.task_attempt if item.step_attempt is None else item.step_attempt,
        item.producer_id,
        item.step_lifecycle_status or item.lifecycle_status,
        item.committed_at,
        item.event_id,
        item.error.code if item.error else None,
    )


def _status(lifecycle: str, business: str) -> str:
    return lifecycle if lifecycle == business else f"{lifecycle}/{business}"


def _percent(progress: "TaskProgressView | None") -> Any:
    if progress is None:
        return None
    return progress.stage if progress.percent is None else f"{progress.percent}%"
