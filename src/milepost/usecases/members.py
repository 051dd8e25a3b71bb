"""Sets who belongs to a project. Whoever gains or loses it is told by the stream, in the same transaction."""

import msgspec
from msgspec import Struct

from milepost.domain.events import StreamEntry
from milepost.ports.access import Membership
from milepost.ports.storage import Transaction, Wanted, Writes
from milepost.usecases.telling import Done, told
from milepost.wire.notifications import AccessBody, MembersSet


class SetMembers(Struct, frozen=True):
    """The command: these users, and nobody else, are the project's members from now on."""

    tenant_id: str
    project_id: str
    user_ids: frozenset[str]

    async def __call__(self, tx: Transaction) -> Done[MembersSet]:
        """The first time, sessions that claim the project and are not listed lose it."""
        held = await tx.members(self.tenant_id, self.project_id)
        known = await tx.read(Wanted())
        before = held if held is not None else await tx.claimants(self.tenant_id, self.project_id, known.now)
        granted = tuple(sorted(self.user_ids - (held or frozenset())))
        revoked = tuple(sorted(before - self.user_ids))
        entries = [
            self._entry(kind, user_id, known.now)
            for kind, users in (("access.revoked", revoked), ("access.granted", granted))
            for user_id in users
        ]
        change = Membership(self.tenant_id, self.project_id, granted, revoked, known.now)
        first = await tx.write(Writes(memberships=[change], entries=entries))
        answer = MembersSet(self.project_id, tuple(sorted(self.user_ids)), granted, revoked)
        return answer, told(self.tenant_id, known.epoch, first, entries)

    def _entry(self, kind: str, user_id: str, now: int) -> StreamEntry:
        body = msgspec.json.encode(AccessBody(self.project_id)).decode()
        granted = kind == "access.granted"
        said = "access.granted" if granted else "access.revoked"
        return StreamEntry(self.tenant_id, said, now, audience_user=user_id, body=body)
