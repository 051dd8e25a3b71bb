"""How tests publish definitions over the service's own routes."""

from typing import Any

import httpx

from tests.parts.stand import Stand


async def publish(
    stand: Stand, document: dict[str, Any], *, tenant: str | None = "t1", **headers: str
) -> httpx.Response:
    """Puts a document with a fresh credential of this tenant, or of all tenants."""
    secret = await stand.credential("publisher", "definitions", tenant=tenant)
    said = {"authorization": f"Bearer {secret}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return await stand.http.put("/internal/v1/definitions", json=document, headers=said)


async def published(stand: Stand, document: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The same; fails where it is not published."""
    response = await publish(stand, document, **more)
    assert response.status_code in (200, 201), response.text
    return response.json()
