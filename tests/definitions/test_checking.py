"""The check says everything that is wrong at once: which line, which place, what, and what to do."""

from copy import deepcopy
from typing import Any

import pytest

from milepost.definitions.checking import check, has_errors
from milepost.definitions.reading import read
from milepost.definitions.source import Source
from tests.parts.documents import DOCUMENT

TEXT = b"""taskTipe: X
taskType: DOCUMENT PROCESS
version: "1"
statuses:
  - code: READING
    displayName: "<b>Reading</b>"
    lifecycleStatus: RUNING
    scope: tsk
    allowedFrom: [READNG]
operations:
  - code: DOCUMENT.PARSE
    allowedEventTypes: [STEP_STARTET, STEP_COMPLETED]
    heartbeatInterval: 30s
    staleAfter: 60s
"""


def test_everything_is_said_at_once_with_lines_and_advice():
    found = [(one.line, one.path, one.wrong, one.advice) for one in check(read(TEXT))]
    assert found == [
        (1, "/taskTipe", "unknown field taskTipe", "did you mean taskType?"),
        (2, "/taskType", "DOCUMENT PROCESS cannot stand here", "write 1 to 128 characters of A-Z a-z 0-9 . _ - ~"),
        (3, "/version", '"1" is a text', "write a whole number from 1 to 1000000, without quotes"),
        (
            6,
            "/statuses/0/displayName",
            "markup or control characters",
            "write plain text; pages show it as it stands",
        ),
        (7, "/statuses/0/lifecycleStatus", "RUNING is not known here", "did you mean RUNNING?"),
        (8, "/statuses/0/scope", "tsk is not known here", "did you mean task?"),
        (9, "/statuses/0/allowedFrom/0", "there is no status READNG", "did you mean READING?"),
        (
            12,
            "/operations/0/allowedEventTypes",
            "without STEP_FAILED a step could never say how it ended",
            "add STEP_FAILED",
        ),
        (
            12,
            "/operations/0/allowedEventTypes/0",
            "there is no event type STEP_STARTET",
            "did you mean STEP_STARTED?",
        ),
        (
            14,
            "/operations/0/staleAfter",
            "staleAfter is less than three heartbeats of 30 s",
            "write at least 90s: one may be lost on its way",
        ),
    ]


def test_a_full_document_has_nothing_wrong_with_it():
    assert check(Source(deepcopy(DOCUMENT))) == []


def test_the_smallest_document_is_a_type_and_a_version():
    assert check(read(b"taskType: T\nversion: 1\n")) == []


def put(path: str, value: Any) -> Source:
    """The full document with one place replaced; `...` takes it out."""
    document = deepcopy(DOCUMENT)
    *inner, last = path.split("/")[1:]
    place: Any = document
    for part in inner:
        place = place[int(part)] if isinstance(place, list) else place[part]
    key: Any = int(last) if isinstance(place, list) else last
    if value is ...:
        del place[key]
    else:
        place[key] = value
    return Source(document)


PARSE = "/operations/0"
V1 = "/schemas/0"


@pytest.mark.parametrize(
    "path,value,place,wrong",
    [
        ("/taskType", ..., "", "taskType is missing"),
        ("/version", 0, "/version", "0 cannot stand here"),
        ("/version", True, "/version", "true cannot stand here"),
        ("/version", None, "/version", "version has no value"),
        ("/progressMode", "WEIGHTS", "/progressMode", "WEIGHTS is not known here"),
        ("/optionalLifecycles", ["FAILED"], "/optionalLifecycles/0", "FAILED is not known here"),
        ("/expectedMaxDuration", "30 minutes", "/expectedMaxDuration", "30 minutes is no length of time"),
        ("/retention", "1s", "/retention", "1s is out of range"),
        ("/cancelDeadline", -5, "/cancelDeadline", "-5 is no length of time"),
        ("/cancelRoles", ["owner"], "/cancelRoles/0", "owner is not known here"),
        ("/cancelRoles", ["admin", "admin"], "/cancelRoles/1", "admin stands twice"),
        ("/displayName", {"key": "k"}, "/displayName", "default is missing"),
        ("/displayName", "a &lt;b", "/displayName", "markup or control characters"),
        ("/displayName", 7, "/displayName", "7 is no text"),
        ("/displayName", "x" * 301, "/displayName", "a text of 301 characters"),
        ("/summarySchema", "document.summry.v1", "/summarySchema", "there is no schema document.summry.v1"),
        ("/summarySchema", ..., "/projections", "there is no data to show"),
        ("/projections/USER_SUMMARY", ["/folder"], "/projections/USER_SUMMARY/0", "lists would show /folder"),
        ("/projections/PROJECT_BROADCAST", ["/pages"], "/projections/PROJECT_BROADCAST", "PROJECT_BROADCAST never"),
        ("/projections/TASK_DETAIL", ["pages"], "/projections/TASK_DETAIL/0", "pages is no JSON Pointer"),
        ("/statuses", {"READING": {}}, "/statuses", "expected a list"),
        ("/statuses/0", "READING", "/statuses/0", "expected fields with values"),
        ("/statuses/0/code", "IN ARBEIT", "/statuses/0/code", "IN ARBEIT cannot stand here"),
        ("/statuses/0/scope", ..., "/statuses/0", "scope is missing"),
        ("/statuses/0/scope", [], "/statuses/0/scope", "a list of 0"),
        ("/statuses/0/severity", "FATAL", "/statuses/0/severity", "FATAL is not known here"),
        ("/statuses/0/terminal", True, "/statuses/0/terminal", "RUNNING is no end"),
        ("/statuses/3/terminal", False, "/statuses/3/terminal", "FAILED is an end"),
        ("/statuses/1/code", "READING", "/statuses/1/code", "READING stands twice"),
        ("/statuses/0/code", "SUCCEEDED", "/statuses/0/lifecycleStatus", "SUCCEEDED always means SUCCEEDED"),
        ("/statuses/0/code", "WAITING_USER_ACTION", "/statuses/1/allowedFrom/0", "there is no status READING"),
        ("/statuses/1/allowedFrom", ["FAILED"], "/statuses/1/allowedFrom/0", "FAILED is an end"),
        ("/statuses/0/presentation/color", "#ff0000", "/statuses/0/presentation/color", "#ff0000 cannot stand here"),
        ("/statuses/0/presentation/icon", "<svg>", "/statuses/0/presentation/icon", "<svg> cannot stand here"),
        ("/statuses/0/presentation/texts/hint", "<b>", "/statuses/0/presentation/texts/hint", "<b> cannot stand here"),
        ("/statuses/0/presentation/colour", "x", "/statuses/0/presentation/colour", "unknown field colour"),
        ("/operations", [], "/operations", "a list of 0"),
        (f"{PARSE}/code", "DOCUMENT.ASK", "/operations/1/code", "DOCUMENT.ASK stands twice"),
        (f"{PARSE}/producerPattern", "doc(.*)", f"{PARSE}/producerPattern", "doc(.*) cannot stand here"),
        (f"{PARSE}/allowedEventTypes", ["STEP_COMPLETED"], f"{PARSE}/allowedEventTypes", "without STEP_FAILED"),
        (f"{PARSE}/allowedEventTypes/0", "TASK_FAILED", f"{PARSE}/allowedEventTypes/0", "TASK_FAILED is reported by"),
        (f"{PARSE}/allowedEventTypes/0", "STEP_FAILED", f"{PARSE}/allowedEventTypes/3", "STEP_FAILED stands twice"),
        (f"{PARSE}/allowedDataSchemas/STEP_HEARTBEAT", "document.parsed.v1", None, "a heartbeat carries no data"),
        (f"{PARSE}/allowedDataSchemas/STEP_CANCELLED", "document.parsed.v1", None, "the operation does not report"),
        (f"{PARSE}/allowedDataSchemas/STEP_ENDED", "document.parsed.v1", None, "there is no event type STEP_ENDED"),
        (f"{PARSE}/allowedDataSchemas/STEP_COMPLETED", "document.parsd.v1", None, "there is no schema document.parsd"),
        (f"{PARSE}/allowedDataSchemas/STEP_COMPLETED", 7, None, "7 is no name of a schema"),
        (f"{PARSE}/failurePolicy", "RETRY", None, "RETRY is not known here"),
        (f"{PARSE}/failurePolicy", "FAIL_TASK", f"{PARSE}/maxAttempts", "only RETRY_THEN_FAIL_TASK counts attempts"),
        (f"{PARSE}/maxAttempts", ..., f"{PARSE}/failurePolicy", "nothing says how often to try"),
        (f"{PARSE}/maxAttempts", 1, None, "1 cannot stand here"),
        (f"{PARSE}/staleAfter", "14s", None, "staleAfter is less than three heartbeats of 5 s"),
        (f"{PARSE}/heartbeatInterval", "soon", None, "soon is no length of time"),
        (f"{PARSE}/weight", 0, None, "0 is no weight"),
        (f"{PARSE}/weight", "3", None, "3 is no weight"),
        (f"{PARSE}/probe/kind", "tcp", None, "tcp is not known here"),
        (f"{PARSE}/probe/kind", "plugin", f"{PARSE}/probe", "a probe of kind plugin needs name"),
        (f"{PARSE}/probe/kind", "provider", f"{PARSE}/probe/url", "a probe of kind provider has no url"),
        (f"{PARSE}/probe/url", ..., f"{PARSE}/probe", "a probe of kind http needs url"),
        (f"{PARSE}/probe/url", "ftp://x", None, "this is no address"),
        (f"{PARSE}/probe/url", "https://u:p@x/", None, "an address must not hold a password"),
        (f"{PARSE}/probe/url", "https://x/{task}", None, "nothing fills in {task}"),
        (f"{PARSE}/projections/TASK_DETAIL", ["/nothing"], f"{PARSE}/projections/TASK_DETAIL/0", "document.parsed.v1"),
        (f"{PARSE}/projections/TASK_DETAIL", ["/customer/mail"], f"{PARSE}/projections/TASK_DETAIL/0", "nothing of"),
        (f"{PARSE}/projections/USER_SUMMARY", ["/pages"], None, "USER_SUMMARY never carries the data of a step"),
        (f"{PARSE}/projections/DETAIL", ["/pages"], None, "unknown field DETAIL"),
        (f"{V1}/name", "document.parsed", None, "document.parsed has no version"),
        (f"{V1}/name", "document parsed.v1", None, "document parsed.v1 cannot stand here"),
        (f"{V1}/name", "document.parsed.v2", "/schemas/1/name", "document.parsed.v2 stands twice"),
        (f"{V1}/maxSize", "1MiB", None, "1MiB is out of range"),
        (f"{V1}/maxSize", "many", None, "many is no size"),
        (f"{V1}/sensitive", ["/customer/phone"], f"{V1}/sensitive/0", "the schema has no field /customer/phone"),
        (f"{V1}/sensitive", ["customer"], f"{V1}/sensitive/0", "customer is no JSON Pointer"),
        (f"{V1}/schema", "object", None, "expected a JSON Schema"),
        (f"{V1}/schema/type", "objekt", None, "JSON has no type objekt"),
        (f"{V1}/schema/properties/pages/minimum", "1", None, "this is no JSON Schema"),
        (f"{V1}/schema/$schema", "http://json-schema.org/draft-07/schema#", None, "another dialect than 2020-12"),
        (f"{V1}/schema/properties/pages", {"$ref": "https://x/y"}, f"{V1}/schema/properties/pages/$ref", "a reference"),
        (f"{V1}/schema/properties/pages", {"$ref": "#/$defs/no"}, f"{V1}/schema/properties/pages/$ref", "there is no"),
        (f"{V1}/schema/properties/checksum/pattern", "(?=a)a", None, "this schema cannot be used"),
        (f"{V1}/schema/$id", "https://x/y", None, "$id is not taken"),
    ],
)
def test_what_is_wrong_is_said_where_it_stands(path: str, value: Any, place: str | None, wrong: str):
    source = put(path, value)
    found = check(source)
    assert has_errors(found)
    assert [one for one in found if one.path == (path if place is None else place) and one.wrong.startswith(wrong)], [
        (one.path, one.wrong) for one in found
    ]
    assert all(one.advice and "\n" not in one.wrong + one.advice for one in found)


@pytest.mark.parametrize(
    "path,value,place,wrong",
    [
        (f"{V1}/schema/require", ["pages"], None, "JSON Schema has no keyword require: it is ignored"),
        (f"{V1}/schema/properties/checksum/format", "hash", None, "there is no format hash: it is ignored"),
        (f"{PARSE}/projections", ..., f"{PARSE}/allowedDataSchemas", "nobody will see this data"),
        ("/projections", ..., "/summarySchema", "nobody will see this data"),
        ("/statuses/3/allowedFrom", ["READING"], None, "an end ignores allowedFrom"),
        (f"{PARSE}/allowedDataSchemas/TASK_CREATED", ..., "/schemas/2/name", "nothing may carry document.wanted.v1"),
    ],
)
def test_what_is_probably_not_meant_is_a_warning(path: str, value: Any, place: str | None, wrong: str):
    found = check(put(path, value))
    assert not has_errors(found)
    assert [(one.path, one.wrong) for one in found] == [(path if place is None else place, wrong)]


def test_what_a_type_does_not_enable_can_neither_be_worded_nor_reported():
    source = put("/optionalLifecycles", ...)
    source.value["statuses"][3]["lifecycleStatus"] = "TIMED_OUT"
    assert [(one.path, one.wrong) for one in check(source)] == [
        ("/operations/0/allowedEventTypes", "TIMED_OUT is not enabled"),
        ("/statuses/3/lifecycleStatus", "TIMED_OUT is not enabled"),
    ]


def test_an_empty_document_is_told_what_it_needs():
    (finding,) = check(read(b""))
    assert finding.wrong == "the document is empty"


def test_a_schema_that_refers_to_itself_is_taken_and_shows_its_first_level():
    tree = {"type": "object", "properties": {"pages": {"type": "integer"}, "below": {"$ref": "#"}}}
    assert check(put("/schemas/1/schema", tree)) == []


def test_a_schema_that_explodes_is_refused():
    defs: dict[str, Any] = {"d0": {"type": "string"}}
    for level in range(1, 20):
        ref = {"$ref": f"#/$defs/d{level - 1}"}
        defs[f"d{level}"] = {"type": "object", "properties": {"a": ref, "b": ref}}
    found = check(put(f"{V1}/schema/$defs", defs | {"table": {"$ref": "#/$defs/d19"}}))
    assert "the schema describes too many places" in {one.wrong for one in found}


def test_values_of_a_document_never_break_the_line_of_a_finding():
    found = check(Source({"taskType": "a\nb\x1b[31m", "version": 1}))
    assert all(one.wrong.isprintable() for one in found)
