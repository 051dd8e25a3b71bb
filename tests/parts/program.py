"""The real program as a process: started, asked, killed, started again on the same file."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx


class Program:
    """One server on a folder of its own and a port of its own, which it keeps over restarts."""

    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._env = {**os.environ, "MILEPOST_DATABASE__URL": f"sqlite:///{folder / 'milepost.db'}", **settings}
        self._process: subprocess.Popen[str] | None = None

    @property
    def log(self) -> str:
        """What it has written to standard error so far."""
        return (self.folder / "log").read_text()

    def start(self, mortal: str | None = None) -> None:
        """Returns when it listens, which it says in one line. `mortal` is the point at which it kills itself."""
        command = [sys.executable, "-m", "milepost", "serve", "--port", str(self.port)]
        if mortal is not None:
            command = [sys.executable, "-m", "milepost.testing.mortal", str(self.port)]
        with (self.folder / "log").open("a") as log:
            self._process = subprocess.Popen(
                command,
                env={**self._env, "MILEPOST_MORTAL": mortal or ""},
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError(f"the program did not start:\n{self.log}")

    def zone(self, name: str) -> None:
        """Sets the machine's time zone for what is started from now on."""
        self._env["TZ"] = name

    def kill(self) -> None:
        """Ends it as a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> int:
        """Ends it as an operator would; its exit code."""
        return self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> int:
        assert self._process is not None
        if self._process.poll() is None:
            self._process.send_signal(how)
        code = self._process.wait(20)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process = None
        return code

    def outlived(self, seconds: float) -> bool:
        """Waits for it to end by itself; whether it is still there after so long."""
        assert self._process is not None
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return True
        return False

    @property
    def runs(self) -> bool:
        return self._process is not None

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """One command of the same program on the same settings, to its end."""
        command = [sys.executable, "-m", "milepost", *args]
        return subprocess.run(
            command, env=self._env, cwd=self.folder, capture_output=True, text=True, timeout=60, check=False
        )

    def json(self, *args: str) -> Any:
        """What a command that must succeed prints as JSON."""
        done = self.run(*args, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def credential(self, producer: str, rights: str = "report") -> str:
        """The secret of a new credential of tenant t1."""
        made = self.json("credentials", "create", "--producer", producer, "--tenant", "t1", "--can", rights)
        return str(made["secret"])

    def session(self, user: str) -> str:
        """The bearer of a new session of tenant t1."""
        return str(self.json("session", "create", "--tenant", "t1", "--user", user)["token"])

    def client(self, token: str) -> httpx.Client:
        """A plain client with this bearer."""
        return httpx.Client(base_url=self.url, headers={"authorization": f"Bearer {token}"}, timeout=10)


def free_port() -> int:
    """A port that nobody listens on; drawn below the range from which outgoing connections take theirs."""
    while True:
        port = 15_000 + int.from_bytes(os.urandom(2)) % 16_000
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port


@contextmanager
def program(folder: Path, **settings: str) -> Iterator[Program]:
    """A program that listens, and that is ended with the test."""
    running = Program(folder, settings)
    running.start()
    try:
        yield running
    finally:
        if running.runs:
            running.stop()
