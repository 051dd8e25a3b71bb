"""The coordinator's hands: worker processes, given one job at a time, and started again when they die."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable

import msgspec

from milepost.demo.jobs import Job, Word
from milepost.demo.worker import VARIABLE, Setup

LINE_LIMIT = 1 << 20


class WorkerDied(Exception):
    """The process ended in the middle of a job; what it reported last is all that is known."""


class Worker:
    """One worker process and its pipes. Jobs wait for one another in the order they came."""

    def __init__(self, name: str, setup: Setup, say: Callable[[str], None]) -> None:
        self.name = name
        self._setup = setup
        self._say = say
        self._turn = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._input: asyncio.StreamWriter | None = None
        self._output: asyncio.StreamReader | None = None

    async def start(self) -> None:
        """Starts the process and waits until it is ready for jobs."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "milepost.demo.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=os.environ | {VARIABLE: msgspec.json.encode(self._setup).decode()},
            limit=LINE_LIMIT,
        )
        self._input, self._output = self._process.stdin, self._process.stdout
        await self._word()

    @property
    def turn(self) -> asyncio.Lock:
        """Held while a job is done."""
        return self._turn

    async def do(self, job: Job, at_page: Callable[[int, int], None]) -> Word:
        """Has a job done; the caller holds `turn`. Raises `WorkerDied`, and then has a new process already."""
        try:
            if self._input is None:
                raise WorkerDied
            self._input.write(msgspec.json.encode(job) + b"\n")
            await self._input.drain()
            while True:
                word = await self._word()
                if word.kind != "PAGE":
                    return word
                at_page(word.page, word.total)
        except (WorkerDied, OSError):
            await self._again()
            raise WorkerDied from None

    def kill(self) -> None:
        """Ends the process with -9, as a kernel short of memory would."""
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)

    async def stop(self) -> None:
        """Asks the process to end, which reports that it was interrupted; ends it if that takes longer than 2 s."""
        if self._process is None or self._process.returncode is not None:
            return
        self._process.terminate()
        try:
            async with asyncio.timeout(2):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()

    async def _again(self) -> None:
        if self._process is not None:
            code = await self._process.wait()
            self._say(f"{self.name} ended with {code} and is started again")
        await self.start()

    async def _word(self) -> Word:
        line = await self._output.readline() if self._output is not None else b""
        if not line.endswith(b"\n"):
            raise WorkerDied
        return msgspec.json.decode(line, type=Word)
