"""The three event streams: one's own tasks and projects, one task in detail, one project."""

from typing import Protocol

from msgspec.structs import replace
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

from milepost.domain.state import TaskKey
from milepost.gateway import framing
from milepost.gateway.feed import Feed
from milepost.gateway.requests import place, refuse, ticket, token
from milepost.gateway.sse import Opening, SseStream
from milepost.gateway.viewer import Interest
from milepost.ports import reading
from milepost.ports.storage import Unavailable
from milepost.usecases import identity
from milepost.wire.ids import is_id
from milepost.wire.problems import Rejection


class SignedIn(Protocol):
    """Tells who a session's token belongs to. Raises `Rejection` UNAUTHENTICATED."""

    async def viewer(self, token: str | None) -> identity.Viewer:
        """The person behind a token."""
        ...

    async def by_ticket(self, ticket: str) -> identity.Viewer:
        """The person behind a ticket, which is used up."""
        ...

    async def again(self, viewer: identity.Viewer) -> identity.Viewer:
        """The same person as the session stands now."""
        ...


def stream_routes(feed: Feed, identities: SignedIn) -> list[BaseRoute]:
    """The routes of all event streams."""
    return [
        Route("/api/stream", PersonalStream(feed, identities), methods=["GET"], name="stream"),
        Route("/api/tasks/{task_id}/stream", TaskStream(feed, identities), methods=["GET"], name="task_stream"),
        Route(
            "/api/projects/{project_id}/stream", ProjectStream(feed, identities), methods=["GET"], name="project_stream"
        ),
    ]


class EventStream:
    """An ASGI application that answers with one stream, or with a problem before it has begun."""

    def __init__(self, feed: Feed, identities: SignedIn) -> None:
        self._feed = feed
        self._identities = identities

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Streams until the client is gone or the feed ends the stream."""
        try:
            stream = await self._open(scope, send)
        except Rejection as rejection:
            await refuse(send, rejection)
            return
        except Unavailable:
            after = self._feed.limits.retry_after()
            await refuse(send, Rejection("UNAVAILABLE", "The database cannot be reached.", retry_after=after))
            return
        try:
            if scope["method"] == "HEAD":
                await send({"type": "http.response.start", "status": 200, "headers": list(framing.HEADERS)})
                await send({"type": "http.response.body", "body": b""})
            else:
                await stream.run(receive)
        finally:
            self._feed.leave(stream.viewer)

    async def _open(self, scope: Scope, send: Send) -> SseStream:
        """Joins before the rights are read, so that no change of them falls between the two."""
        after, params = place(scope), scope["path_params"]
        person = await self._who(scope)
        interest = self._interest(person, params)
        self._feed.admit(interest)
        viewer = await self._feed.join(interest, after)
        try:
            person = await self._identities.again(person)
            interest, part = await self._allowed(person, self._interest(person, params))
            self._feed.settle(viewer, interest)
            replay = await self._feed.replay(viewer, after, part)
        except BaseException:
            self._feed.leave(viewer)
            raise
        return SseStream(self._feed, viewer, Opening(replay, scope["headers"]), send)

    async def _who(self, scope: Scope) -> identity.Viewer:
        given = ticket(scope)
        return await (self._identities.viewer(token(scope)) if given is None else self._identities.by_ticket(given))

    def _interest(self, person: identity.Viewer, params: dict[str, str]) -> Interest:
        raise NotImplementedError

    async def _allowed(self, person: identity.Viewer, interest: Interest) -> tuple[Interest, reading.Scope | None]:
        """The interest as far as it is allowed, and its part of the log where it does not say so itself.

        Raises `Rejection`.
        """
        return interest, None


class PersonalStream(EventStream):
    """`GET /api/stream`: one's own tasks, and those of the projects of the session."""

    def _interest(self, person: identity.Viewer, params: dict[str, str]) -> Interest:
        return _interest(person, personal=True, project_ids=person.project_ids)


class ProjectStream(EventStream):
    """`GET /api/projects/{project_id}/stream`: the tasks of one project, for its members."""

    def _interest(self, person: identity.Viewer, params: dict[str, str]) -> Interest:
        project_id = params["project_id"]
        if project_id not in person.project_ids:
            raise Rejection("NOT_FOUND", "There is no such project among yours.")
        return _interest(person, project_ids=frozenset({project_id}))


class TaskStream(EventStream):
    """`GET /api/tasks/{task_id}/stream`: one task in detail and its removal, for whoever may see it."""

    def _interest(self, person: identity.Viewer, params: dict[str, str]) -> Interest:
        if not is_id(params["task_id"]):
            raise _unseen()
        return _interest(person, task_id=params["task_id"])

    async def _allowed(self, person: identity.Viewer, interest: Interest) -> tuple[Interest, reading.Scope | None]:
        key = TaskKey(interest.tenant_id, interest.task_id or "")
        snapshot = await self._feed.sources.reading.snapshot(key)
        if snapshot is None or snapshot.task.deleted_at is not None or not person.scope.covers(snapshot.task):
            raise _unseen()
        task = snapshot.task
        by_right = person.scope.everything or task.owner_id == person.user_id
        # Every entry of a task names its owner, so the owner's part of the log holds all of them.
        part = reading.Scope(interest.tenant_id, task.owner_id)
        return replace(interest, through=None if by_right else task.project_id), part


def _unseen() -> Rejection:
    return Rejection("NOT_FOUND", "There is no such task among those you may see.")


def _interest(
    person: identity.Viewer,
    *,
    personal: bool = False,
    project_ids: frozenset[str] = frozenset(),
    task_id: str | None = None,
) -> Interest:
    return Interest(
        tenant_id=person.tenant_id,
        user_id=person.user_id,
        session_id=person.session_id,
        expires_at=person.expires_at,
        personal=personal,
        project_ids=project_ids,
        task_id=task_id,
    )
