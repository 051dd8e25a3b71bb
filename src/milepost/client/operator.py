"""What operators do over HTTP: correct tasks, settle conflicts, read the audit log. A session of role operator."""

import secrets
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from milepost.client.reader import Client
from milepost.client.reads import decoded
from milepost.wire.answers import TaskCorrected
from milepost.wire.operating import AuditPage, ConflictPage, ConflictView, CredentialList, Stats

ADMIN = "/admin/v1"


class Operator(Client):
    """A reading client with the commands of operators. They raise what reads raise; `Forbidden` for anybody else."""

    def correct(
        self,
        task_id: str,
        lifecycle: str,
        *,
        reason: str,
        expected_version: int,
        business_status: str | None = None,
    ) -> TaskCorrected:
        """Sets a task to the terminal state it is in truth in. Raises `Refused` VERSION_CONFLICT if it has moved on."""
        body: dict[str, Any] = {
            "lifecycleStatus": lifecycle,
            "reason": reason,
            "expectedVersion": str(expected_version),
            "businessStatus": business_status,
        }
        path = f"{ADMIN}/tasks/{quote(task_id)}:correct"
        return self._posted(path, body, TaskCorrected)

    def conflicts(self, *, state: str = "open", cursor: str | None = None, limit: int = 50) -> ConflictPage:
        """A page of conflicts, newest first; `state` is open, resolved or all."""
        return self._read(f"{ADMIN}/conflicts", ConflictPage, state=state, cursor=cursor, limit=limit)

    def resolve(self, event_id: str, note: str) -> ConflictView:
        """Settles the conflict of an event."""
        return self._posted(f"{ADMIN}/conflicts/{quote(event_id)}:resolve", {"note": note}, ConflictView)

    def audit(self, *, cursor: str | None = None, limit: int = 50) -> AuditPage:
        """A page of the audit log, newest first."""
        return self._read(f"{ADMIN}/audit", AuditPage, cursor=cursor, limit=limit)

    def credentials(self) -> CredentialList:
        """The credentials that may act in the tenant, without secrets."""
        return self._read(f"{ADMIN}/credentials", CredentialList)

    def stats(self) -> Stats:
        """Counts of the tenant."""
        return self._read(f"{ADMIN}/stats", Stats)

    def _read(self, path: str, shape: type[Any], **query: str | int | None) -> Any:
        asked = urlencode({name: value for name, value in query.items() if value is not None})
        return decoded(self._run(self._reads.get(f"{path}?{asked}" if asked else path)), shape)

    def _posted(self, path: str, body: dict[str, Any], shape: type[Any]) -> Any:
        told = msgspec.json.encode({name: value for name, value in body.items() if value is not None})
        return decoded(self._run(self._reads.post(path, told, secrets.token_urlsafe(15))), shape)
