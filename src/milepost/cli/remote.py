"""The commands that speak HTTP: a client for the address and token given, and what its errors mean for a person."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from milepost.cli.endings import Ending, FoundWanting, PartUnavailable, UsedWrongly

if TYPE_CHECKING:
    from milepost.client import Client, ClientError, Operator

_PATIENCE = 3.0
_SESSION = "`milepost session create` prints one"


@contextmanager
def remote(url: str, token: str | None) -> "Generator[Client]":
    """A reading client. Raises an `Ending` for whatever it could not do."""
    with operating(url, token) as client:
        yield client


@contextmanager
def operating(url: str, token: str | None) -> "Generator[Operator]":
    """The same with the commands of operators; others are refused by the service."""
    from milepost.client import ClientError, Operator

    checked(url, token)
    with Operator(url, token=token, patience=_PATIENCE) as client:
        try:
            yield client
        except ClientError as error:
            raise explained(error, url) from None


def checked(url: str, token: str | None) -> str:
    """The token. Raises `UsedWrongly` where it or the address cannot be meant."""
    if not url.startswith(("http://", "https://")):
        raise UsedWrongly("--url: expected an address such as http://127.0.0.1:8700")
    if not token:
        raise UsedWrongly(f"no session token: give --token or MILEPOST_TOKEN; {_SESSION}")
    if not token.isascii() or not token.isprintable():
        raise UsedWrongly(f"--token: not a session token; {_SESSION}")
    return token


def explained(error: "ClientError", url: str) -> Ending:
    """How a command ends after this error of the client."""
    from milepost.client import Forbidden, NotFound, NotReached, Refused, SignedOut

    if isinstance(error, NotReached):
        return PartUnavailable(f"{url}: {error}")
    if isinstance(error, SignedOut):
        return UsedWrongly(f"the session token is not taken ({error.detail or error.code}); {_SESSION}")
    if isinstance(error, NotFound | Forbidden):
        return FoundWanting(error.detail or error.code)
    if isinstance(error, Refused):
        said = f"{error.code}: {error.detail}" if error.detail else error.code
        return PartUnavailable(f"{url}: {said}") if error.status >= 500 or error.status == 429 else FoundWanting(said)
    return PartUnavailable(f"{url}: {error}")
