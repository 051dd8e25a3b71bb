"""What the routes work with. The bootstrap fills it in; no route knows a driver."""

from collections.abc import Callable

from msgspec import Struct

from milepost.clock import Clock
from milepost.domain.facts import Heartbeat
from milepost.ports.access import Access
from milepost.ports.definitions import Definitions
from milepost.ports.operating import Operating
from milepost.ports.reading import Reading
from milepost.ports.storage import Storage
from milepost.tokens.execution import ExecutionTokens
from milepost.usecases.batching import Batcher
from milepost.usecases.commit import Work
from milepost.usecases.identity import Identities
from milepost.usecases.notifying import Centre
from milepost.usecases.rates import Rates
from milepost.usecases.rulebook import Rulebook
from milepost.usecases.telling import Teller
from milepost.usecases.viewing import Views
from milepost.wire.commands import Beacon


class Options(Struct, frozen=True):
    """What settings say about the routes. `secure_cookies` is on where people come in over TLS."""

    allowed_origins: tuple[str, ...] = ()
    secure_cookies: bool = False
    token_ttl_ms: int = 15 * 60 * 1000
    metrics_open: bool = False
    docs_open: bool = False
    refuse_suspect_clocks: bool = False


def _nothing(_route: str, _method: str, _status: int, _seconds: float) -> None:
    return None


class Services(Struct, frozen=True):
    """The parts behind the routes."""

    storage: Storage
    reading: Reading
    access: Access
    operating: Operating
    definitions: Definitions
    clock: Clock
    identities: Identities
    tokens: ExecutionTokens
    rulebook: Rulebook
    commit: Batcher[Work]
    beats: Batcher[Heartbeat]
    views: Views
    centre: Centre
    tell: Teller
    rates: Rates = Rates()
    beacons: Rates = Rates()
    options: Options = Options()
    observe: Callable[[str, str, int, float], None] = _nothing
    """Called after every answer with route, method, status and seconds."""
    ended: Callable[[str], None] = lambda _session_id: None
    """Called with the id of a session that was signed out or revoked, so that its streams end."""
    seen: Callable[[Beacon], None] = lambda _beacon: None
    """Called with what a viewer measured."""
    metrics: Callable[[], bytes] | None = None
    """The metrics in Prometheus' text form, where they are served on this port."""
