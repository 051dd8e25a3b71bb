"""The commands that call the service as a service does: with a credential instead of a person's session."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from milepost.cli.commands import DEFAULT_URL
from milepost.cli.endings import FoundWanting, PartUnavailable, UsedWrongly

if TYPE_CHECKING:
    import httpx

F = TypeVar("F", bound=Callable[..., Any])

_CREDENTIAL: Final = "`milepost credentials create --can definitions` prints one"
_SECONDS: Final = 30.0


def caller_options(function: F) -> F:
    """`--url`, `--token` with a service credential, and `--tenant` for one of all tenants."""
    tenant = click.option("--tenant", metavar="ID", help="The tenant, for a credential of all tenants.")
    token = click.option(
        "--token", envvar="MILEPOST_TOKEN", metavar="SECRET", help="A service credential; else MILEPOST_TOKEN."
    )
    url = click.option(
        "--url",
        envvar="MILEPOST_URL",
        metavar="URL",
        default=DEFAULT_URL,
        show_default=True,
        help="Address of the service; else MILEPOST_URL.",
    )
    return url(token(tenant(function)))


class Caller:
    """Calls one service with one credential. Raises an `Ending` for whatever cannot be done."""

    def __init__(self, url: str, token: str | None, tenant: str | None) -> None:
        if not url.startswith(("http://", "https://")):
            raise UsedWrongly("--url: expected an address such as http://127.0.0.1:8700")
        if not token:
            raise UsedWrongly(f"no credential: give --token or MILEPOST_TOKEN; {_CREDENTIAL}")
        if not token.isascii() or not token.isprintable():
            raise UsedWrongly(f"--token: not a credential; {_CREDENTIAL}")
        self._url = url.rstrip("/")
        self._headers = {"authorization": f"Bearer {token}"} | ({"milepost-tenant": tenant} if tenant else {})

    def get(self, path: str, query: Mapping[str, str]) -> Any:
        """What is there."""
        return self._told(self._asked("GET", path, params=query))

    def put(self, path: str, body: Any) -> "httpx.Response":
        """The reply to a body, whatever it says of it."""
        reply = self._asked("PUT", path, json=body)
        if reply.status_code in (401, 403) or reply.status_code >= 429:
            self._told(reply)
        return reply

    def _asked(self, method: str, path: str, **more: Any) -> "httpx.Response":
        import httpx

        try:
            return httpx.request(
                method, f"{self._url}{path}", headers=self._headers, timeout=_SECONDS, trust_env=False, **more
            )
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise PartUnavailable(f"{self._url}: {' '.join(str(error).split()) or type(error).__name__}") from None

    def _told(self, reply: "httpx.Response") -> Any:
        said = problem(reply)
        if said is None:
            return reply.json()
        if reply.status_code == 401:
            raise UsedWrongly(f"the credential is not taken ({said}); {_CREDENTIAL}")
        if reply.status_code >= 429:
            raise PartUnavailable(f"{self._url}: {said}")
        raise FoundWanting(said)


def problem(reply: "httpx.Response") -> str | None:
    """What went wrong, in one line; None where nothing did."""
    if reply.is_success:
        return None
    try:
        body = reply.json()
        return f"{body['code']}: {body['detail']}"
    except (ValueError, KeyError, TypeError):
        return f"an answer with status {reply.status_code} that is none of Milepost's"
