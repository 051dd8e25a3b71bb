"""Only what a schema declares, a projection names and nobody marked as sensitive is ever shown."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from milepost.definitions.whitelist import declared, whitelist
from milepost.domain.masks import NOTHING, Mask, shown

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "pages": {"type": "integer"},
        "open": {"type": "object"},
        "any": True,
        "customer": {"type": "object", "properties": {"name": {"type": "string"}, "mail": {"type": "string"}}},
        "tables": {"type": "array", "items": {"$ref": "#/$defs/table"}},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]},
        "scores": {
            "type": "object",
            "properties": {"secret": {"type": "integer"}},
            "additionalProperties": {"type": "integer"},
        },
        "either": {"oneOf": [{"type": "string"}, {"type": "object", "properties": {"x": {"type": "integer"}}}]},
        "tree": {"$ref": "#/$defs/tree"},
    },
    "$defs": {
        "table": {"type": "object", "properties": {"rows": {"type": "integer"}, "name": {"type": "string"}}},
        "tree": {"type": "object", "properties": {"v": {"type": "integer"}, "t": {"$ref": "#/$defs/tree"}}},
    },
}
VALUE: dict[str, Any] = {
    "pages": 3,
    "open": {"anything": 1},
    "any": {"deep": 1},
    "customer": {"name": "Ann", "mail": "ann@example.org", "undeclared": 1},
    "tables": [{"rows": 1, "name": "a"}, {"rows": 2, "name": "b", "undeclared": 2}],
    "pair": ["a", 2, {"x": 1}],
    "scores": {"secret": 5, "a": 1, "b": {"no": 1}},
    "either": {"x": 1, "y": 2},
    "tree": {"v": 1, "t": {"v": 2, "t": {"v": 3}}},
    "undeclared": {"password": "hunter2"},
}


@pytest.mark.parametrize(
    "pointers,expected",
    [
        (["/pages"], {"pages": 3}),
        (["/customer/name"], {"customer": {"name": "Ann"}}),
        (["/customer"], {"customer": {"name": "Ann", "mail": "ann@example.org"}}),
        (["/tables/*/rows"], {"tables": [{"rows": 1}, {"rows": 2}]}),
        (["/tables"], {"tables": [{"rows": 1, "name": "a"}, {"rows": 2, "name": "b"}]}),
        (["/pair"], {"pair": ["a", 2]}),
        (["/scores/*"], {"scores": {"a": 1}}),
        (["/scores/secret"], {"scores": {"secret": 5}}),
        (["/scores/*", "/scores/secret"], {"scores": {"secret": 5, "a": 1}}),
        (["/either"], {"either": {"x": 1}}),
        (["/tree"], {"tree": {"v": 1}}),
        (["/open"], {}),
        (["/any"], {}),
        (["/undeclared"], None),
        ([], None),
        (["/pages", "/customer/name"], {"pages": 3, "customer": {"name": "Ann"}}),
    ],
)
def test_a_pointer_shows_what_the_schema_lists_below_it(pointers: list[str], expected: Any):
    assert shown(VALUE, whitelist(SCHEMA, pointers, [])) == expected


@pytest.mark.parametrize(
    "sensitive,pointers,expected",
    [
        (["/customer/mail"], ["/customer"], {"customer": {"name": "Ann"}}),
        (["/customer"], ["/customer/name"], None),
        (["/tables/*/name"], ["/tables"], {"tables": [{"rows": 1}, {"rows": 2}]}),
        (["/scores/secret"], ["/scores/*", "/scores"], {"scores": {"a": 1}}),
        (["/pages"], [""], "not there"),
    ],
)
def test_what_is_sensitive_is_shown_by_no_pointer(sensitive: list[str], pointers: list[str], expected: Any):
    found = shown(VALUE, whitelist(SCHEMA, pointers, sensitive))
    if expected == "not there":
        assert "pages" not in found
    else:
        assert found == expected


def test_an_object_where_the_schema_spoke_of_text_shows_nothing_of_it():
    mask = whitelist({"type": "object", "properties": {"note": {"type": "string"}}}, ["/note"], [])
    assert shown({"note": {"password": "x"}}, mask) == {}
    assert shown({"note": ["x"]}, mask) == {}
    assert shown(["x"], mask) is None
    assert shown({"note": None}, mask) == {"note": None}


def test_nothing_shows_nothing():
    for value in ({"a": 1}, [1], 1, "x", None, True):
        assert shown(value, NOTHING) is None
        assert shown(value, None) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b", "c", "*"]), inner),
    max_leaves=12,
)
MASKS = st.recursive(
    st.builds(Mask, plain=st.booleans()),
    lambda inner: st.builds(
        Mask,
        plain=st.booleans(),
        members=st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
        others=st.none() | inner,
        items=st.none() | inner,
    ),
    max_leaves=8,
)


def subset(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and subset(item, whole[key]) for key, item in part.items())
    if isinstance(part, list):
        places = iter(whole if isinstance(whole, list) else ())
        return isinstance(whole, list) and all(any(subset(item, other) for other in places) for item in part)
    return part == whole


@settings(deadline=None)
@given(JSON, MASKS)
def test_what_is_shown_was_there_and_is_shown_again_the_same(value: Any, mask: Mask):
    found = shown(value, mask)
    assert found is None or subset(found, value)
    assert shown(found, mask) == found


def test_everything_declared_is_one_mask():
    mask = declared(SCHEMA)
    assert set(mask.members) == set(SCHEMA["properties"])
    assert mask.others is None
