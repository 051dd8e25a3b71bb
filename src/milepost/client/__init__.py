"""The SDK for readers: a view merged by version, never the authority."""

from milepost.client.convergence import Change, ConnectionState, Tempo
from milepost.client.errors import ClientError, Forbidden, NotFound, NotReached, Refused, SignedOut
from milepost.client.live import AsyncLive, Live
from milepost.client.operator import Operator
from milepost.client.reader import AsyncClient, Client
from milepost.client.store import Detail, Store

__all__ = [
    "AsyncClient",
    "AsyncLive",
    "Change",
    "Client",
    "ClientError",
    "ConnectionState",
    "Detail",
    "Forbidden",
    "Live",
    "NotFound",
    "NotReached",
    "Operator",
    "Refused",
    "SignedOut",
    "Store",
    "Tempo",
]
