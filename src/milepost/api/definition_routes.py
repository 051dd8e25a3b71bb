"""The part of the table of routes that is about definitions."""

from typing import Final

from milepost.api import definitions
from milepost.api.endpoints import Endpoint, Query
from milepost.definitions.documents import Document
from milepost.wire.definitions import DefinitionShown, PublishAnswer, PublishedList

_PRODUCT = Query("product", "Only definitions of this product.")

FOR_SERVICES: Final = (
    Endpoint(
        "PUT",
        "/internal/v1/definitions",
        definitions.publish,
        "Publish one version of a task type; the same document again answers the same.",
        "service",
        {200: PublishAnswer, 201: PublishAnswer},
        Document,
        ("DEFINITION_INVALID", "VERSION_CONFLICT", "NOT_FOUND"),
    ),
    Endpoint(
        "GET",
        "/internal/v1/definitions",
        definitions.list_published,
        "List published versions; with documents where a task type is named.",
        "service",
        {200: PublishedList},
        query=(
            Query("taskType", "Only this task type, with documents."),
            _PRODUCT,
            Query("version", "Only this version.", "integer"),
        ),
    ),
)

FOR_VIEWERS: Final = (
    Endpoint(
        "GET",
        "/api/definitions/{task_type}",
        definitions.show,
        "Read how a task type is worded: names, colours and icons of its statuses and operations.",
        "viewer",
        {200: DefinitionShown},
        codes=("NOT_FOUND", "TASK_DELETED"),
        query=(
            Query("product", "The product of the task; its own definition comes before that of every product."),
            Query("version", "The version a task is bound to; without it the newest.", "integer"),
            Query("taskId", "A task; its wording is exactly that of the definition it was made under."),
        ),
    ),
)
