"""Sets the stage: a server, credentials, the coordinator with its workers, and somebody who watches."""

import os
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import msgspec
from msgspec import Struct

from milepost.client import Client
from milepost.demo.coordinator import COORDINATOR, Plan
from milepost.demo.pipeline import PARSER, PREPARER, STORER
from milepost.demo.processes import Group, StartFailed, await_ready, free_port
from milepost.demo.watching import Watcher

PORT = 8700
TENANT, USER, PROJECT = "demo", "you", "library"
READY = 40.0


class _Credential(Struct):
    secret: str


class Session(Struct):
    """What `milepost session create --json` prints."""

    token: str
    link: str


@click.command(name="demo")
@click.option("--settings", "settings_path", metavar="FILE", help="Settings for the server; data stays private.")
@click.option("--port", type=click.IntRange(1, 65535), help=f"Default: {PORT}, or a free one if that is taken.")
@click.option("--once", is_flag=True, help="End when all documents are through.")
@click.option("--fast", is_flag=True, help="Do not slow down for people.")
def _command(settings_path: str | None, *, port: int | None, once: bool, fast: bool) -> int:
    """Start a server and workers that read real documents, and print a link to watch them. Ctrl-C ends it all."""
    folder = Path(tempfile.mkdtemp(prefix="milepost-demo-"))
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: stop.set())
    group = Group(_environment(folder, settings_path))
    try:
        return _act(group, folder, stop, port=port, once=once, fast=fast)
    except StartFailed as failed:
        click.echo(f"milepost demo: {failed}", err=True)
        return 3
    finally:
        group.end()
        shutil.rmtree(folder, ignore_errors=True)


def play(arguments: Sequence[str] = ()) -> int:
    """Runs the demonstration with the arguments of its command; the exit code."""
    code = _command.main(args=list(arguments), prog_name="milepost demo", standalone_mode=False)
    return code if isinstance(code, int) else 0


def _act(group: Group, folder: Path, stop: threading.Event, *, port: int | None, once: bool, fast: bool) -> int:
    port = port or free_port(PORT)
    url = f"http://127.0.0.1:{port}"
    server = group.start(["milepost", "serve", "--host", "127.0.0.1", "--port", str(port)], quiet=True)
    await_ready(url, server, READY)
    secrets = _secrets(group)
    session = _session(group, url)
    _greet(url, session)
    pause, stagger = (0.02, 0.1) if fast else (1.0, 1.0)
    plan = Plan(url, TENANT, USER, PROJECT, secrets, str(folder), pause, stagger, once)
    coordinator = group.start(["milepost.demo.coordinator"], line=msgspec.json.encode(plan))
    watcher = Watcher(Client(url, token=session.token))
    threading.Thread(target=watcher.run, name="watcher", daemon=True).start()
    while coordinator.poll() is None and server.poll() is None and not stop.wait(0.1):
        pass
    stop.wait(0.5 if once else 0.0)
    watcher.stop()
    if stop.is_set():
        click.echo("\n· ending")
        return 0
    if server.poll() is not None:
        raise StartFailed(f"the server ended with {server.returncode}")
    return coordinator.returncode or 0


def _environment(folder: Path, settings_path: str | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MILEPOST_")}
    settings = Path(settings_path).resolve() if settings_path else folder / "milepost.toml"
    if not settings_path:
        settings.touch()
    return kept | {
        "MILEPOST_SETTINGS": str(settings),
        "MILEPOST_DATABASE__URL": f"sqlite:///{folder / 'milepost.db'}",
        "PYTHONUNBUFFERED": "1",
    }


def _secrets(group: Group) -> dict[str, str]:
    rights = {COORDINATOR: "report,coordinate", PREPARER: "report", PARSER: "report", STORER: "report"}

    def secret(producer: str) -> str:
        asked = [
            "credentials",
            "create",
            "--producer",
            producer,
            "--tenant",
            TENANT,
            "--can",
            rights[producer],
            "--json",
        ]
        return msgspec.json.decode(group.asked(asked), type=_Credential).secret

    with ThreadPoolExecutor(max_workers=2) as pool:
        return dict(zip(rights, pool.map(secret, rights), strict=True))


def _session(group: Group, url: str) -> Session:
    asked = ["session", "create", "--tenant", TENANT, "--user", USER, "--project", PROJECT, "--ttl", "24h"]
    return msgspec.json.decode(group.asked([*asked, "--url", url, "--json"]), type=Session)


def _greet(url: str, session: Session) -> None:
    click.echo(f"\n  Watch it in a browser (signs you in, once):\n    {session.link}\n")
    click.echo("  Or beside this, in another terminal:")
    click.echo(f"    MILEPOST_URL={url} MILEPOST_TOKEN={session.token} {_program()} watch\n")
    click.echo("  Ctrl-C ends everything and removes its data.\n")
    sys.stdout.flush()


def _program() -> str:
    beside = Path(sys.executable).parent / "milepost"
    return os.path.relpath(beside) if beside.exists() else "milepost"
