"""Data is judged by its registered schema: places are told, values never."""

from typing import Any

import pytest

from milepost.definitions.judging import MOST, faults
from milepost.domain.rules import SchemaRules
from tests.parts.documents import rules

PARSED = rules().schemas["document.parsed.v1"]


def test_a_valid_value_has_no_faults():
    value = {"pages": 3, "customer": {"mail": "ann@example.org"}, "tables": [{"rows": 1}], "more": 1}
    assert faults(PARSED, value) == ()


def test_each_fault_has_its_place_and_no_value():
    value = {"pages": 0, "customer": {"mail": "hunter2"}, "tables": [{"rows": 1}, {"rows": "hunter2"}]}
    found = faults(PARSED, value)
    assert {one.pointer for one in found} == {"/pages", "/customer/mail", "/tables/1/rows"}
    assert not any("hunter2" in one.detail for one in found)


@pytest.mark.parametrize("value", [None, [], "x", 1, True, {}])
def test_what_has_another_shape_is_a_fault_at_the_root(value: Any):
    assert [one.pointer for one in faults(PARSED, value)] == [""]


def test_a_name_with_a_slash_is_escaped_in_its_place():
    schema = SchemaRules("s.v1", '{"properties": {"a/b~c": {"type": "integer"}}}', 100)
    assert [one.pointer for one in faults(schema, {"a/b~c": "x"})] == ["/a~1b~0c"]


def test_only_the_first_faults_are_told():
    schema = SchemaRules("s.v1", '{"items": {"type": "integer"}}', 100)
    assert len(faults(schema, ["x"] * 1000)) == MOST
