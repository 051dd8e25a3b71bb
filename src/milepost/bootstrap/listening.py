"""Listens and serves HTTP: sockets that are really bound before anybody is told, signals left to the program."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Generator
from typing import Any, Final

import uvicorn

from milepost.bootstrap.refusals import Misconfigured, NotAvailable

BACKLOG: Final = 2048


def bind(host: str, port: int) -> socket.socket:
    """A bound socket; port 0 takes a free one. Raises `CannotStart`."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise Misconfigured(f"server.host: {host} is no address of this machine") from None
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise NotAvailable(f"cannot listen on {host}:{port}: {error.strerror}") from None
    listener.setblocking(False)
    return listener


def address_of(listener: socket.socket, host: str) -> str:
    """The URL under which people reach this socket from this machine."""
    port = listener.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104  compared, not bound
    return f"http://{f'[{name}]' if ':' in name and not name.startswith('[') else name}:{port}"


class HttpServer(uvicorn.Server):
    """A uvicorn server that others start and stop."""

    def __init__(self, app: Any, listener: socket.socket, *, grace: float, on_listening: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                loop="none",
                http="httptools",
                ws="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=max(1, round(grace)),
                timeout_keep_alive=75,
                backlog=BACKLOG,
            )
        )
        self._listener = listener
        self._on_listening = on_listening

    async def run_until_stopped(self) -> None:
        """Serves until `stop` was called and what was taken is answered."""
        await self.serve(sockets=[self._listener])

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Tells that it listens once that is true."""
        await super().startup(sockets)
        self._on_listening()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leaves signals to the program, which has more to end than this server."""
        yield

    def stop(self) -> None:
        """Takes no new connections and ends when running requests are answered; called twice: at once."""
        self.force_exit = self.should_exit
        self.should_exit = True


async def until_stopped(*servers: HttpServer) -> None:
    """Runs servers side by side; the first that fails ends all."""
    async with asyncio.TaskGroup() as group:
        for server in servers:
            group.create_task(server.run_until_stopped())
