"""Published definitions: documents that never change, by tenant, product, task type and version."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class Published(Struct, frozen=True):
    """One published version, without its document.

    `tenant_id` is empty for the default tenant, whose definitions serve every tenant without its own; `product` for one
    that serves every product without its own. `definition_id` follows from all this and the document alone.
    """

    tenant_id: str
    product: str
    task_type: str
    version: int
    definition_id: str
    enabled: bool
    published_by: str
    published_at: int


class Definitions(Protocol):
    """Stores published definitions. Each method is a transaction of its own."""

    async def publish(self, heading: Published, document: bytes, after: int) -> bool:
        """Stores a new version, if the newest of its tenant, product and task type still is `after` (0: none).

        False where another was published meanwhile; then nothing is stored.
        """
        ...

    async def versions(self, tenant_id: str, product: str, task_type: str) -> tuple[Published, ...]:
        """Every version that may serve such a task, of this tenant and product and of the default ones.

        By rising version inside each line; a tenant's own lines first, a product's own before that of every product.
        """
        ...

    async def listed(self, tenant_id: str) -> tuple[Published, ...]:
        """Every version this tenant may use, by task type, tenant, product and version."""
        ...

    async def documents(self, definition_ids: Sequence[str]) -> dict[str, bytes]:
        """Documents as JSON by the id of their definition; unknown ones are absent."""
        ...
