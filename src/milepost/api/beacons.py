"""What viewers measured: how long a change took to be seen, and what their connections went through."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from milepost.api.callers import viewer
from milepost.api.http import read_json
from milepost.api.services import Services
from milepost.usecases.rates import Rates, Source
from milepost.wire.commands import Beacon
from milepost.wire.problems import Rejection

PER_SECOND: Final = 1
BURST: Final = 10


def beacon_rates() -> Rates:
    """The limit of one session: whoever sends more measures itself only."""
    return Rates(PER_SECOND, BURST)


async def take(request: Request, services: Services) -> Response:
    """Counts what a viewer measured. The figures are anybody's word: they are counted and decide nothing."""
    who = await viewer(request, services)
    body: Beacon = await read_json(request, Beacon)
    wait = services.beacons.take(Source(who.tenant_id, who.session_id), services.clock.now())
    if wait is not None:
        raise Rejection("RATE_LIMITED", "This session sends too many beacons.", retry_after=wait)
    services.seen(body)
    return Response(status_code=204)
