"""Who may: the service or the person behind a request, and the right that a route names."""

from starlette.requests import Request

from milepost.api.http import bearer, viewer_token
from milepost.api.services import Services
from milepost.ports.access import Credential, Right
from milepost.usecases.idempotency import Caller
from milepost.usecases.identity import Viewer
from milepost.wire.ids import checked
from milepost.wire.problems import Rejection

TENANT_HEADER = "milepost-tenant"


async def service(request: Request, services: Services, *rights: Right) -> Credential:
    """The service, if it has one of these rights. Raises `Rejection` UNAUTHENTICATED or FORBIDDEN."""
    credential = await services.identities.service(bearer(request))
    require(credential, *rights)
    return credential


def require(credential: Credential, *rights: Right) -> None:
    """Raises `Rejection` FORBIDDEN unless the credential has one of these rights."""
    if rights and not credential.rights.intersection(rights):
        raise Rejection("FORBIDDEN", f"This needs the right {' or '.join(rights)}.")


def tenant_of(credential: Credential, named: str | None) -> str:
    """The tenant a service acts in: its own, or the one it names where it serves all."""
    if credential.tenant_id is not None:
        if named is not None and named != credential.tenant_id:
            raise Rejection("FORBIDDEN", "This credential belongs to another tenant.")
        return credential.tenant_id
    if named is None:
        raise Rejection.at(
            "/headers/Milepost-Tenant", "FIELD_INVALID", "Name the tenant by the header Milepost-Tenant."
        )
    return checked(named, "/headers/Milepost-Tenant")


def header_tenant(request: Request, credential: Credential) -> str:
    """The tenant of a request without a tenant in its body."""
    return tenant_of(credential, request.headers.get(TENANT_HEADER))


async def viewer(request: Request, services: Services) -> Viewer:
    """The person behind a request. Raises `Rejection` UNAUTHENTICATED, and FORBIDDEN for a forged cross-site write."""
    person = await services.identities.viewer(viewer_token(request))
    if bearer(request) is None and request.method not in ("GET", "HEAD"):
        same_site(request, services)
    return person


def same_site(request: Request, services: Services) -> None:
    """Raises `Rejection` FORBIDDEN where a browser says that another site's page makes this request."""
    # The cookie is same-site already; a foreign Origin is refused all the same, so that no browser quirk can matter.
    origin = request.headers.get("origin")
    if origin is None or origin in services.options.allowed_origins:
        return
    if origin.partition("://")[2] != request.headers.get("host"):
        raise Rejection("FORBIDDEN", "This request comes from another site.")


def caller(credential: Credential) -> Caller:
    """A service as the caller of a command."""
    return Caller(credential.credential_id, credential.producer_id)


def person(who: Viewer) -> Caller:
    """A person as the caller of a command."""
    return Caller(f"user:{who.user_id}", who.user_id)
