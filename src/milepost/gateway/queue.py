"""What waits for one viewer, bounded in bytes.

A newer message of the same task and kind replaces an older one that may be merged, and takes its place *at the end*: a
viewer who is cut behind any message has then been sent everything up to its id, or will be sent something newer.
"""

from milepost.gateway.message import Message


class Queue:
    """Messages in the order in which they will be sent."""

    __slots__ = ("_held", "size")

    def __init__(self) -> None:
        self._held: dict[object, Message] = {}
        self.size = 0

    def __len__(self) -> int:
        return len(self._held)

    def put(self, message: Message, limit: int) -> int | None:
        """Appends a message; how many older ones it replaced (0 or 1), or None if it does not fit into `limit` bytes.

        A message that is alone always fits: it could not be sent at all otherwise.
        """
        older = self._held.pop(message.merge_key, None) if message.merge_key else None
        if older is not None:
            self.size -= older.size
        if self._held and self.size + message.size > limit:
            return None
        self._held[message.merge_key if message.mergeable else message] = message
        self.size += message.size
        return 0 if older is None else 1

    def take(self) -> tuple[Message, ...]:
        """Everything that waits; the queue is empty afterwards."""
        taken = tuple(self._held.values())
        self.clear()
        return taken

    def clear(self) -> None:
        """Forgets what waits."""
        self._held.clear()
        self.size = 0
