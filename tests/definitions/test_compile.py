"""A document compiles into the rules that decisions are made by; what it leaves out is as in the built-in one."""

from milepost.definitions.compiling import compiled
from milepost.definitions.documents import canonical, decoded, document_of, encoded
from milepost.definitions.generic import generic
from milepost.definitions.source import Source
from milepost.domain.lifecycle import STEP_FACTS
from milepost.domain.rules import BusinessStatus, OperationRules, Probe
from tests.parts.documents import document, rules


def test_the_smallest_document_means_what_the_built_in_one_means():
    small = compiled(document_of(Source({"taskType": "T", "version": 1})), "d1")
    built_in = generic("T")
    assert small.definition_id == "d1"
    for name in built_in.__struct_fields__:
        if name != "definition_id":
            assert getattr(small, name) == getattr(built_in, name), name


def test_what_the_task_type_says_becomes_rules():
    found = rules()
    assert (found.task_type, found.version, found.mode, found.any_operation) == (
        "DOCUMENT_PROCESS",
        1,
        "WEIGHTED",
        False,
    )
    assert found.enabled == {"PENDING", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "TIMED_OUT"}
    assert (found.expected_max_ms, found.retention_ms, found.cancel_deadline_ms) == (1_800_000, 7_776_000_000, 120_000)
    assert (found.cancel_roles, found.result_resolver, found.summary_schema) == (
        {"admin"},
        "documents",
        "document.summary.v1",
    )


def test_statuses_stand_beside_the_built_in_ones():
    found = rules().statuses
    assert found["READING"] == BusinessStatus("READING", "RUNNING", frozenset({"task", "step"}))
    assert found["CHECKING"].allowed_from == {"READING"}
    assert not found["OLD_WORDING"].enabled
    assert found["TIMED_OUT"].lifecycle == "TIMED_OUT"
    assert found["WAITING_USER_ACTION"].scope == {"task"}


def test_an_operation_becomes_rules():
    found = rules().operations["DOCUMENT.PARSE"]
    assert (found.heartbeat_interval_ms, found.stale_after_ms, found.expected_ms) == (5_000, 20_000, 90_000)
    assert (found.failure_policy, found.max_attempts, found.weight) == ("RETRY_THEN_FAIL_TASK", 3, 3)
    assert found.probe == Probe("http", "https://parser/{taskId}", "parser")
    assert found.events == STEP_FACTS - {"STEP_CANCELLED"}
    assert found.schemas["STEP_COMPLETED"] == {"document.parsed.v1", "document.parsed.v2"}
    assert set(found.shown) == {"document.parsed.v1", "document.parsed.v2", "document.wanted.v1"}


def test_an_operation_that_says_little_takes_the_usual_limits():
    said = [{"code": "A"}, {"code": "B", "heartbeatInterval": "1m"}]
    found = rules(operations=said).operations
    assert found["A"] == OperationRules("A", 10_000, 60_000)
    assert (found["B"].heartbeat_interval_ms, found["B"].stale_after_ms) == (60_000, 360_000)


def test_a_producer_pattern_names_whole_ids():
    def takes(pattern: str, producer: str) -> bool:
        return OperationRules("A", 1, 3, producer=pattern).takes(producer)

    assert takes("*", "anybody")
    assert takes("parser", "parser")
    assert not takes("parser", "parser2")
    assert takes("document-*", "document-")
    assert takes("document-*", "document-parser")
    assert not takes("document-*", "my-document-parser")
    assert takes("*-parser", "document-parser")
    assert not takes("a*a", "a")
    assert takes("a*a", "aa")
    assert takes("a*b*c", "a-b-b-c")
    assert not takes("a*b*c", "a-c-b")
    assert not takes("a*bc*c", "abc")


def test_an_unknown_operation_is_allowed_only_where_none_is_listed():
    assert rules().operation("OTHER") is None
    open_rules = rules(operations=None, schemas=None, summarySchema=None, projections=None)
    assert open_rules.operation("OTHER") == OperationRules("OTHER", 10_000, 60_000)


def test_a_published_document_compiles_into_the_same_rules_and_hashes_the_same_in_any_order():
    source = Source(document())
    text = encoded(source)
    assert compiled(decoded(text), "d1") == compiled(document_of(source), "d1")
    turned = Source(dict(reversed(list(document().items()))))
    assert canonical(encoded(turned)) == canonical(text)
    assert encoded(turned) != text


def test_a_document_of_another_version_of_the_program_still_compiles():
    text = encoded(Source(document(somethingNew={"a": 1})))
    assert compiled(decoded(text), "d1") == rules()
