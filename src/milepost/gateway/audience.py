"""Who looks at what in one tenant, so that an entry costs its own audience and nobody else."""

from collections.abc import Iterator
from typing import NamedTuple

from milepost.domain.events import StreamEntry
from milepost.gateway.viewer import Interest, Viewer


class Addressees(NamedTuple):
    """The viewers of one entry, by the projection they get."""

    wide: list[Viewer]
    narrow: list[Viewer]
    detail: list[Viewer]


class Audience:
    """Viewers by user, by project and by task; `people` holds all streams of a user, whatever they show."""

    def __init__(self) -> None:
        self._all: set[Viewer] = set()
        self._people: dict[str, set[Viewer]] = {}
        self._users: dict[str, set[Viewer]] = {}
        self._projects: dict[str, set[Viewer]] = {}
        self._tasks: dict[str, set[Viewer]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Viewer]:
        return iter(tuple(self._all))

    def add(self, viewer: Viewer) -> None:
        """From now on entries reach this viewer."""
        self._all.add(viewer)
        for index, key in self._places(viewer):
            index.setdefault(key, set()).add(viewer)

    def discard(self, viewer: Viewer) -> None:
        """From now on they do not."""
        self._all.discard(viewer)
        for index, key in self._places(viewer):
            members = index.get(key)
            if members is None:
                continue
            members.discard(viewer)
            if not members:
                del index[key]

    def change(self, viewer: Viewer, interest: Interest) -> None:
        """From now on this viewer gets what another interest asks for."""
        self.discard(viewer)
        viewer.interest = interest
        self.add(viewer)

    def streams_of(self, user_id: str | None) -> tuple[Viewer, ...]:
        """All streams of a user."""
        return tuple(self._people.get(user_id or "", ()))

    def personal(self, user_id: str | None = None) -> tuple[Viewer, ...]:
        """The personal streams of a user, or of everybody."""
        if user_id is not None:
            return tuple(self._users.get(user_id, ()))
        return tuple(viewer for viewers in self._users.values() for viewer in viewers)

    def within(self, project_id: str) -> tuple[Viewer, ...]:
        """The streams that show a project."""
        return tuple(self._projects.get(project_id, ()))

    def wants(self, entry: StreamEntry) -> bool:
        """Whether anybody looks at this entry of a task."""
        return (
            entry.audience_user in self._users or entry.audience_project in self._projects or self.wants_detail(entry)
        )

    def wants_detail(self, entry: StreamEntry) -> bool:
        """Whether anybody looks at the detail of this entry's task."""
        return entry.task_id in self._tasks

    def of(self, entry: StreamEntry) -> Addressees:
        """Each viewer once, in the widest projection due: an owner who is also a member is an owner."""
        owner = entry.audience_user
        wide = list(self._users.get(owner, ())) if owner else []
        narrow: list[Viewer] = []
        for viewer in self._projects.get(entry.audience_project or "", ()):
            interest = viewer.interest
            if interest.user_id != owner:
                narrow.append(viewer)
            elif not interest.personal:
                wide.append(viewer)
        return Addressees(wide, narrow, list(self._tasks.get(entry.task_id or "", ())))

    def _places(self, viewer: Viewer) -> Iterator[tuple[dict[str, set[Viewer]], str]]:
        interest = viewer.interest
        yield self._people, interest.user_id
        if interest.personal:
            yield self._users, interest.user_id
        for project_id in interest.project_ids:
            yield self._projects, project_id
        if interest.task_id is not None:
            yield self._tasks, interest.task_id
