"""Why a read did not succeed."""


class ClientError(Exception):
    """The root of everything the client raises."""


class NotReached(ClientError):
    """The service did not answer in time. Reading again later is safe."""


class Refused(ClientError):
    """The service refused, and says why by a stable `code`."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.status = status
        self.code = code
        self.detail = detail


class SignedOut(Refused):
    """The session is unknown, expired or revoked (401): sign in again."""


class Forbidden(Refused):
    """The session may not see this (403)."""


class NotFound(Refused):
    """There is no such task for this session (404), or there is none any more (410)."""


_KINDS: dict[int, type[Refused]] = {401: SignedOut, 403: Forbidden, 404: NotFound, 410: NotFound}


def refusal(status: int, code: str, detail: str) -> Refused:
    """The error of a status."""
    return _KINDS.get(status, Refused)(status, code, detail)
