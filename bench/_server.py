"""Starts the real program on a file of its own, and asks it for what a measurement needs."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CORE: dict[str, str] = {
    "MILEPOST_PROGRESS__MIN_PERCENT": "0",
    "MILEPOST_PROGRESS__MIN_INTERVAL": "0ms",
}
"""Merging off: every progress report makes a version, so that no event is cheaper than it looks."""


class Server:
    """One running server and its file."""

    def __init__(self, port: int, folder: Path, process: subprocess.Popen[str], env: dict[str, str]) -> None:
        self.port = port
        self.folder = folder
        self.process = process
        self._env = env

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def database(self) -> Path:
        return self.folder / "milepost.db"

    def stop(self) -> None:
        """Ends the server; its file stays until the measurement is over."""
        self.process.terminate()
        self.process.wait(20)

    def rss_kib(self) -> int:
        """Resident memory of the server process."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")))

    def cpu_seconds(self) -> float:
        """Processor time the server process has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def cli(self, *args: str) -> Any:
        """What a command prints as JSON."""
        command = [sys.executable, "-m", "milepost", *args, "--json"]
        done = subprocess.run(command, env=self._env, cwd=self.folder, check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    def post(self, path: str, token: str, body: Any) -> Any:
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), method="POST")
        request.add_header("authorization", f"Bearer {token}")
        request.add_header("content-type", "application/json")
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)


@contextmanager
def server(**settings: str) -> Iterator[Server]:
    """A server on the embedded default in a folder of its own; settings as environment names."""
    with tempfile.TemporaryDirectory(prefix="milepost-bench-") as name:
        folder = Path(name)
        port = _free_port()
        env = {**os.environ, "MILEPOST_DATABASE__URL": f"sqlite:///{folder / 'milepost.db'}", **settings}
        command = [sys.executable, "-m", "milepost", "serve", "--port", str(port)]
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(command, env=env, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True)
            try:
                assert process.stdout is not None
                if not process.stdout.readline():
                    raise RuntimeError((folder / "log").read_text())
                yield Server(port, folder, process, env)
            finally:
                process.terminate()
                process.wait(20)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def pin(core: int, process: int = 0) -> None:
    """Keeps a process on one core, where there are two: server and client then do not take turns."""
    if (os.cpu_count() or 1) > 1:
        os.sched_setaffinity(process, {core})


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def now_ms() -> float:
    return time.time() * 1000
