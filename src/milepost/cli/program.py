"""All commands, and how whatever goes wrong in them becomes one line and an exit code."""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

import click

from milepost.cli.commands import Group
from milepost.cli.conflicts import conflicts
from milepost.cli.credentials import credentials
from milepost.cli.database import database, migrate
from milepost.cli.definitions import definitions
from milepost.cli.demo import demo
from milepost.cli.doctor import doctor
from milepost.cli.endings import UNAVAILABLE, USED_WRONGLY, Ending
from milepost.cli.keys import keys
from milepost.cli.notices import notices
from milepost.cli.serve import serve
from milepost.cli.session import session
from milepost.cli.settings import settings
from milepost.cli.tasks import tasks
from milepost.cli.tenants import tenants
from milepost.cli.watch import watch


@click.group(cls=Group, example="milepost demo", context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("milepost"), prog_name="milepost", message="%(prog)s %(version)s")
def program() -> None:
    """One reliable, near-real-time status for every asynchronous task."""


for _command in (
    serve,
    migrate,
    tenants,
    credentials,
    session,
    definitions,
    tasks,
    conflicts,
    watch,
    notices,
    settings,
    keys,
    database,
    doctor,
    demo,
):
    program.add_command(_command)


def run(arguments: Sequence[str]) -> int:
    """Runs one command; its exit code."""
    try:
        ended = _invoked(arguments)
        sys.stdout.flush()
        return ended if isinstance(ended, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except Ending as ending:
        return _told(f"milepost: {ending}", ending.code)
    except click.exceptions.NoArgsIsHelpError as error:
        return _told(error.format_message(), USED_WRONGLY)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if isinstance(context, click.Context) else "milepost"
        return _told(f"{path}: {' '.join(error.format_message().split())}", USED_WRONGLY)
    except (click.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:
        return _reader_went_away()
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("milepost"):
            raise
        return _told(f"milepost: {error.name} is not installed: pip install 'milepost[sqlite]'", UNAVAILABLE)


def _invoked(arguments: Sequence[str]) -> object:
    if "_MILEPOST_COMPLETE" in os.environ:
        program.main(prog_name="milepost")  # answers the shell that completes a line, and ends
    # Not click's own `main`, which would end the program by itself where a reader of its output went away.
    with program.make_context("milepost", list(arguments)) as context:
        return program.invoke(context)


def _told(line: str, code: int) -> int:
    click.echo(line, err=True)
    return code


def _reader_went_away() -> int:
    # Whoever reads our output had enough (`milepost watch | head`); Python would complain once more at its end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
