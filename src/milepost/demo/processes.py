"""Starts the demonstration's processes, each in a group of its own, and ends them all in bounded time."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

import httpx

GRACE = 8.0


class StartFailed(Exception):
    """A part could not be started; says which and why, in a line."""


class Group:
    """The processes that were started, in order. Ended in the opposite order: nobody outlives what it needs."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._running: list[subprocess.Popen[bytes]] = []

    def start(
        self, arguments: Sequence[str], *, line: bytes | None = None, quiet: bool = False
    ) -> subprocess.Popen[bytes]:
        """Starts a module of ours; its input is a pipe that begins with `line` and ends when this process does."""
        process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL if quiet else None,
            stderr=subprocess.DEVNULL if quiet else None,
            env=self._environment,
            start_new_session=True,
        )
        self._running.append(process)
        if line is not None and process.stdin is not None:
            process.stdin.write(line + b"\n")
            process.stdin.flush()
        return process

    def asked(self, arguments: Sequence[str]) -> bytes:
        """What a command of the command line prints. Raises `StartFailed` with its last line."""
        done = subprocess.run(
            [sys.executable, "-m", "milepost", *arguments],
            capture_output=True,
            env=self._environment,
            check=False,
            start_new_session=True,
        )
        if done.returncode != 0:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise StartFailed(f"milepost {arguments[0]} failed: {said[-1] if said else done.returncode}")
        return done.stdout

    def end(self) -> None:
        """Asks each process to end, waits a bounded time, then ends its whole group."""
        for process in reversed(self._running):
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    process.terminate()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(GRACE)
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.stdin is not None:
                with suppress(OSError):
                    process.stdin.close()
        self._running.clear()


def free_port(wanted: int) -> int:
    """The wanted port if nobody listens there, else any free one."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise StartFailed("no free port was found")


def await_ready(url: str, server: subprocess.Popen[bytes], seconds: float) -> None:
    """Waits until the service can serve. Raises `StartFailed`."""
    until = time.monotonic() + seconds
    with httpx.Client(base_url=url, timeout=2.0, trust_env=False) as client:
        while time.monotonic() < until:
            if server.poll() is not None:
                raise StartFailed(f"the server ended with {server.returncode}")
            with suppress(httpx.HTTPError):
                if client.get("/readyz").status_code == 200:
                    return
            time.sleep(0.05)
    raise StartFailed(f"the server was not ready within {seconds:.0f} s")
