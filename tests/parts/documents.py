"""A definition document with everything in it, to be varied by the tests."""

from copy import deepcopy
from typing import Any

from milepost.definitions.compiling import compiled
from milepost.definitions.documents import document_of
from milepost.definitions.source import Source
from milepost.domain.rules import TaskRules

DOCUMENT: dict[str, Any] = {
    "taskType": "DOCUMENT_PROCESS",
    "version": 1,
    "displayName": {"key": "task.document", "default": "Document"},
    "progressMode": "WEIGHTED",
    "optionalLifecycles": ["TIMED_OUT"],
    "expectedMaxDuration": "30m",
    "retention": "90d",
    "cancelDeadline": "2m",
    "cancelRoles": ["admin"],
    "resultResolver": "documents",
    "summarySchema": "document.summary.v1",
    "projections": {"USER_SUMMARY": ["/pages"], "TASK_DETAIL": ["/pages", "/language"]},
    "statuses": [
        {
            "code": "READING",
            "displayName": "Reading",
            "lifecycleStatus": "RUNNING",
            "terminal": False,
            "severity": "INFO",
            "sortOrder": 10,
            "scope": ["task", "step"],
            "presentation": {"color": "progress", "icon": "text-scan", "texts": {"hint": "reading.hint"}},
        },
        {"code": "CHECKING", "lifecycleStatus": "RUNNING", "scope": ["task", "step"], "allowedFrom": ["READING"]},
        {"code": "OLD_WORDING", "lifecycleStatus": "RUNNING", "scope": "task", "enabled": False},
        {"code": "UNREADABLE", "lifecycleStatus": "FAILED", "scope": ["task", "step"]},
    ],
    "operations": [
        {
            "code": "DOCUMENT.PARSE",
            "displayName": "Parse",
            "presentation": {"icon": "text"},
            "producerPattern": "document-*",
            "allowedEventTypes": ["STEP_STARTED", "STEP_PROGRESS", "STEP_COMPLETED", "STEP_FAILED", "STEP_TIMED_OUT"],
            "allowedDataSchemas": {
                "TASK_CREATED": "document.wanted.v1",
                "STEP_COMPLETED": ["document.parsed.v1", "document.parsed.v2"],
            },
            "failurePolicy": "RETRY_THEN_FAIL_TASK",
            "maxAttempts": 3,
            "heartbeatInterval": "5s",
            "staleAfter": "20s",
            "probe": {"kind": "http", "url": "https://parser/{taskId}", "credentialRef": "parser"},
            "expectedDuration": "90s",
            "weight": 3,
            "projections": {"TASK_DETAIL": ["/pages", "/customer", "/tables/*/rows"]},
        },
        {"code": "DOCUMENT.ASK", "failurePolicy": "WAIT_FOR_USER"},
        {"code": "DOCUMENT.INDEX"},
        {"code": "DOCUMENT.FAX", "enabled": False},
    ],
    "schemas": [
        {
            "name": "document.parsed.v1",
            "maxSize": "4KiB",
            "sensitive": ["/customer/mail"],
            "schema": {
                "type": "object",
                "required": ["pages"],
                "properties": {
                    "pages": {"type": "integer", "minimum": 1},
                    "checksum": {"type": "string"},
                    "customer": {
                        "type": "object",
                        "properties": {"name": {"type": "string"}, "mail": {"type": "string", "format": "email"}},
                    },
                    "tables": {"type": "array", "items": {"$ref": "#/$defs/table"}},
                },
                "$defs": {
                    "table": {
                        "type": "object",
                        "properties": {"rows": {"type": "integer"}, "name": {"type": "string"}},
                    }
                },
            },
        },
        {"name": "document.parsed.v2", "schema": {"type": "object", "properties": {"pages": {"type": "integer"}}}},
        {"name": "document.wanted.v1", "schema": {"type": "object", "properties": {"pages": {"type": "integer"}}}},
        {
            "name": "document.summary.v1",
            "schema": {
                "type": "object",
                "properties": {
                    "pages": {"type": "integer"},
                    "language": {"type": "string"},
                    "folder": {"type": "string"},
                },
            },
        },
    ],
}


def document(**changes: Any) -> dict[str, Any]:
    """The document with some of its fields replaced; None takes one out."""
    said = deepcopy(DOCUMENT) | changes
    return {name: value for name, value in said.items() if value is not None}


def rules(definition_id: str = "d1", **changes: Any) -> TaskRules:
    """The rules it compiles into."""
    return compiled(document_of(Source(document(**changes))), definition_id)
