"""Hands on what is about no task: access to projects, read marks, broadcasts.

Membership is applied here, at its place in the order of the stream: what stands before it was sent by the old filter,
what stands behind it by the new one.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from milepost.gateway.audience import Audience
from milepost.gateway.message import Encoder, Message, project_of
from milepost.gateway.viewer import Interest, Viewer
from milepost.ports.stream import Logged
from milepost.wire.problems import Rejection


def hand_on(audience: Audience, encoder: Encoder, epoch: str, row: Logged) -> None:
    """Gives one entry without a task to those it is for."""
    entry = row.entry
    if entry.kind in ("access.granted", "access.revoked"):
        _access(audience, encoder, epoch, row)
    elif entry.kind == "notice.read" and entry.audience_user is not None:
        readers = audience.personal(entry.audience_user)
        if readers:
            _put(encoder.read(epoch, row), readers)
    elif entry.kind == "broadcast":
        project_id = entry.audience_project
        listeners = audience.personal() if project_id is None else audience.within(project_id)
        if listeners:
            _put(encoder.broadcast(epoch, row), listeners)


def _access(audience: Audience, encoder: Encoder, epoch: str, row: Logged) -> None:
    viewers = audience.streams_of(row.entry.audience_user)
    if not viewers:
        return
    project_id = project_of(row.entry)
    granted = row.entry.kind == "access.granted"
    message = encoder.access(epoch, row)
    for viewer in viewers:
        if viewer.access is not None:
            viewer.access[project_id] = granted
        if viewer.interest.personal:
            _filter(audience, viewer, project_id, granted=granted)
            viewer.put(message)
        elif not granted and _lives_by(viewer, project_id):
            viewer.dismiss(message)


def _filter(audience: Audience, viewer: Viewer, project_id: str, *, granted: bool) -> None:
    held = viewer.interest.project_ids
    changed = held | {project_id} if granted else held - {project_id}
    if changed != held:
        audience.change(viewer, replace(viewer.interest, project_ids=changed))


def settle(audience: Audience, viewer: Viewer, interest: Interest, position: int) -> None:
    """Gives a viewer the filter its rights allow, as they were read while its tail went on to `position`.

    What the stream told of its projects meanwhile is newer and is applied to it. Raises `Rejection` NOT_FOUND.
    """
    access, viewer.access = viewer.access or {}, None
    if interest.personal:
        gained = {project_id for project_id, granted in access.items() if granted}
        projects = (interest.project_ids | gained) - (access.keys() - gained)
        interest = replace(interest, project_ids=projects)
    moved = interest.project_ids != viewer.interest.project_ids
    audience.change(viewer, interest)
    if not interest.personal and any(not granted and _lives_by(viewer, lost) for lost, granted in access.items()):
        raise Rejection("NOT_FOUND", "There is nothing here that you may see.")
    if moved and viewer.interrupted is None:
        # What came by the old filter is none of the new one's: it is read once more, up to where the tail is now.
        viewer.rebase(position)


def _lives_by(viewer: Viewer, project_id: str) -> bool:
    # Only such a stream ends when its viewer loses the project.
    return project_id in viewer.interest.project_ids or viewer.interest.through == project_id


def _put(message: Message, viewers: Iterable[Viewer]) -> None:
    for viewer in viewers:
        viewer.put(message)
