"""Two versions of a document are compared: what changed, what is compatible, and what needs a new version and why."""

from copy import deepcopy
from typing import Any

import pytest

from milepost.definitions.comparing import compared
from milepost.definitions.documents import document_of
from milepost.definitions.source import Source
from tests.parts.documents import DOCUMENT


def changed(*edits: tuple[str, Any], version: int = 2) -> tuple[Any, Any]:
    """The full document before and after some places were replaced (`...` takes one out, a list's end is `-`)."""
    after = deepcopy(DOCUMENT) | {"version": version}
    for path, value in edits:
        *inner, last = path.split("/")[1:]
        place: Any = after
        for part in inner:
            place = place[int(part)] if isinstance(place, list) else place[part]
        if last == "-":
            place.append(value)
        elif value is ...:
            del place[int(last) if isinstance(place, list) else last]
        else:
            place[int(last) if isinstance(place, list) else last] = value
    return document_of(Source(deepcopy(DOCUMENT))), document_of(Source(after))


PARSE, V1 = "/operations/0", "/schemas/0"


@pytest.mark.parametrize(
    "path,value,what",
    [
        ("/displayName", "Documents", "displayName changed"),
        ("/retention", "30d", "retention changed from 90d to 30d"),
        ("/cancelRoles", ["admin", "member"], "role member added"),
        ("/statuses/0/presentation/color", "calm", "presentation changed"),
        ("/statuses/0/sortOrder", 11, "sortOrder changed from 10 to 11"),
        ("/statuses/2/enabled", True, "enabled changed from false to true"),
        ("/statuses/1/allowedFrom", ..., "it may follow any status now"),
        ("/statuses/1/allowedFrom/-", "RUNNING", "origin RUNNING added"),
        ("/statuses/-", {"code": "NEW", "lifecycleStatus": "RUNNING", "scope": "task"}, "status NEW added"),
        ("/operations/-", {"code": "DOCUMENT.NEW"}, "operation DOCUMENT.NEW added"),
        (f"{PARSE}/weight", 4, "weight changed from 3 to 4"),
        (f"{PARSE}/staleAfter", "40s", "staleAfter changed from 20s to 40s"),
        (f"{PARSE}/allowedEventTypes/-", "STEP_CANCELLED", "event type STEP_CANCELLED added"),
        (f"{PARSE}/projections/TASK_DETAIL/-", "/checksum", "field /checksum added"),
        ("/schemas/-", {"name": "n.v1", "schema": {}}, "schema n.v1 added"),
        (f"{V1}/maxSize", "8KiB", "larger values are taken"),
        (f"{V1}/sensitive/-", "/checksum", "/checksum is sensitive now"),
        (f"{V1}/schema/title", "Parsed", "title changed"),
        (f"{V1}/schema/properties/pages/description", "How many", "description changed"),
        (f"{V1}/schema/properties/language", {"type": "string"}, "the optional field language added"),
        (f"{V1}/schema/$defs/table/properties/columns", {"type": "integer"}, "the optional field columns added"),
    ],
)
def test_what_nobody_can_stumble_over_is_compatible(path: str, value: Any, what: str):
    found = compared(*changed((path, value)))
    assert [(one.what, one.needs, one.because) for one in found.changes] == [(what, None, None)]
    assert found.obstacles == ()
    assert found.raised


@pytest.mark.parametrize(
    "path,value,what",
    [
        ("/progressMode", "STEPS", "progressMode changed from WEIGHTED to STEPS"),
        ("/optionalLifecycles", [], "lifecycle TIMED_OUT removed"),
        ("/cancelRoles", [], "role admin removed"),
        ("/projections/TASK_DETAIL", ["/pages"], "field /language removed"),
        ("/statuses/0/lifecycleStatus", "PENDING", "lifecycleStatus changed from RUNNING to PENDING"),
        ("/statuses/0/scope", "task", "scope step removed"),
        ("/statuses/0/allowedFrom", ["RUNNING"], "it may follow only some statuses now"),
        ("/statuses/3", ..., "status UNREADABLE removed"),
        ("/operations/3", ..., "operation DOCUMENT.FAX removed"),
        ("/operations/2/enabled", False, "enabled changed from true to false"),
        (f"{PARSE}/producerPattern", "*", "producerPattern changed from document-* to *"),
        (f"{PARSE}/failurePolicy", "FAIL_TASK", "failurePolicy changed from RETRY_THEN_FAIL_TASK to FAIL_TASK"),
        (f"{PARSE}/allowedEventTypes/4", ..., "event type STEP_TIMED_OUT removed"),
        (f"{PARSE}/allowedDataSchemas/STEP_COMPLETED", "document.parsed.v2", "schema document.parsed.v1 removed"),
    ],
)
def test_what_producers_or_viewers_would_notice_takes_a_new_document_version_and_says_why(
    path: str, value: Any, what: str
):
    found = compared(*changed((path, value)))
    ((said, needs, because),) = [(one.what, one.needs, one.because) for one in found.changes]
    assert (said, needs) == (what, "document")
    assert because
    assert found.obstacles == ()


@pytest.mark.parametrize(
    "path,value,what",
    [
        (f"{V1}/schema/properties/checksum", ..., "the field checksum removed"),
        (f"{V1}/schema/required", ["pages", "checksum"], "the field checksum became required"),
        (f"{V1}/schema/required", [], "the field pages became optional"),
        (f"{V1}/schema/properties/pages/type", "number", "type changed"),
        (f"{V1}/schema/properties/pages/maximum", 100, "maximum added"),
        (f"{V1}/schema/properties/pages/minimum", ..., "minimum removed"),
        (f"{V1}/schema/additionalProperties", False, "additionalProperties added"),
        (f"{V1}/schema/$defs/table/properties/rows/type", "string", "type changed"),
        (f"{V1}/maxSize", "2KiB", "only smaller values are taken"),
        (f"{V1}/sensitive", [], "/customer/mail is no longer sensitive"),
    ],
)
def test_a_schema_keeps_its_meaning_under_its_name(path: str, value: Any, what: str):
    found = compared(*changed((path, value)))
    ((said, needs, because),) = [(one.what, one.needs, one.because) for one in found.changes]
    assert (said, needs) == (what, "document.parsed.v1")
    assert because
    (obstacle,) = found.obstacles
    assert obstacle == "document.parsed.v1 changes in a way that needs a new name, such as document.parsed.v2"


def test_a_new_required_field_and_a_renamed_one_are_told_as_what_they_are():
    required = changed((f"{V1}/schema/properties/x", {"type": "string"}), (f"{V1}/schema/required", ["pages", "x"]))
    assert "the field x added, required" in [one.what for one in compared(*required).changes]
    renamed = changed((f"{V1}/schema/properties/sha", {"type": "string"}), (f"{V1}/schema/properties/checksum", ...))
    assert "the field checksum renamed to sha" in [one.what for one in compared(*renamed).changes]


def test_any_change_needs_the_version_raised_and_none_needs_nothing():
    (obstacle,) = compared(*changed(("/displayName", "Documents"), version=1)).obstacles
    assert obstacle == "the version must be raised above 1: a published document never changes"
    assert compared(*changed(version=1)).obstacles == ()
    assert compared(*changed(version=1)).changes == ()
    older, newer = changed(version=3)
    assert compared(newer, older).obstacles == ("the version went back from 3 to 1",)


def test_documents_about_different_things_are_not_compared():
    found = compared(*changed(("/taskType", "OTHER")))
    assert found.obstacles == ("the documents are about different things: task type differs",)


def test_listing_operations_where_all_were_allowed_narrows():
    older, newer = changed(("/operations", ...))
    assert [(one.what, one.needs) for one in compared(newer, older).changes] == [
        ("only the listed operations are allowed now", "document")
    ]
    assert [(one.what, one.needs) for one in compared(older, newer).changes] == [
        ("every operation is allowed now", None)
    ]
