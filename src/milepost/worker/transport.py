"""Carries requests with httpx, and turns every way to fail into a value."""

# Looking up a host name imports this one, in the sender's thread. A fork at that moment would leave the import locked
# in the child for ever, and nothing it reports would go out; so it is here before any sender starts.
import encodings.idna  # noqa: F401  # pyright: ignore[reportUnusedImport]

import httpx

from milepost.ports.http import Outcome, Reply, Request, Unreachable

TIMEOUT = httpx.Timeout(10.0, connect=3.0)
REPLY_LIMIT = 8 << 20
# httpx says RuntimeError when its client was closed under a request.
FAILURES = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, RuntimeError)


class SyncTransport:
    """Carries requests to one service, one after another."""

    def __init__(self, url: str, transport: httpx.BaseTransport | None = None) -> None:
        self._client = httpx.Client(base_url=url, timeout=TIMEOUT, transport=transport, trust_env=False)

    def carry(self, request: Request) -> Outcome:
        """The reply, or why there is none."""
        try:
            with self._client.stream(
                request.method, request.path, content=request.body, headers=dict(request.headers)
            ) as reply:
                body = bytearray()
                for chunk in reply.iter_bytes():
                    body += chunk
                    if len(body) > REPLY_LIMIT:
                        return Unreachable("the reply is too large")
                return Reply(reply.status_code, bytes(body), dict(reply.headers))
        except FAILURES as error:
            return Unreachable(_reason(error))

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()


class AsyncTransport:
    """The same on an event loop."""

    def __init__(self, url: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._client = httpx.AsyncClient(base_url=url, timeout=TIMEOUT, transport=transport, trust_env=False)

    async def carry(self, request: Request) -> Outcome:
        """The reply, or why there is none."""
        try:
            async with self._client.stream(
                request.method, request.path, content=request.body, headers=dict(request.headers)
            ) as reply:
                body = bytearray()
                async for chunk in reply.aiter_bytes():
                    body += chunk
                    if len(body) > REPLY_LIMIT:
                        return Unreachable("the reply is too large")
                return Reply(reply.status_code, bytes(body), dict(reply.headers))
        except FAILURES as error:
            return Unreachable(_reason(error))

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._client.aclose()


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
