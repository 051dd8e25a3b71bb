"""JSON that others sent: read the same however it is spelled, strict about keys and numbers, never broken by depth."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from milepost.wire.commands import BatchGet, CreateTask
from milepost.wire.events import EventBody
from milepost.wire.json import DEPTH, _slowly, converted, normalised, parse
from milepost.wire.problems import Rejection, problem_json
from tests.wire.spelling import SAFE, spelled, values, wild_texts


def read(text: str | bytes) -> Any:
    body = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return normalised(parse(body))


def refused(text: str | bytes) -> Rejection:
    with pytest.raises(Rejection) as caught:
        read(text)
    return caught.value


def reference(value: Any) -> Any:
    """What is meant by a value, said as plainly as possible."""
    if isinstance(value, dict):
        return {reference(name): reference(item) for name, item in value.items()}
    if isinstance(value, list):
        return [reference(item) for item in value]
    if isinstance(value, str):
        pairs = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return pairs.replace("\x00", "\ufffd")
    if isinstance(value, float) and value == int(value):
        return int(value)
    return value


def said(reading: Callable[[], Any]) -> Any:
    """What a reading gives, or the code and place of its refusal."""
    try:
        return reading()
    except Rejection as rejection:
        return [rejection.code, rejection.errors[0].pointer if rejection.errors else None]


def same(one: Any, other: Any) -> bool:
    """Equality that tells 1 from true and from 1.0, as JSON's own bytes do."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@given(values(), st.randoms(use_true_random=False))
def test_any_spelling_of_a_value_is_read_as_that_value(value: Any, chance: Random) -> None:
    assert same(read(spelled(value, chance)), reference(value))


@given(values(wild_texts), st.randoms(use_true_random=False))
def test_the_fast_path_reads_what_the_slow_path_reads(value: Any, chance: Random) -> None:
    body = spelled(value, chance).encode("utf-8", "surrogatepass")
    assert same(said(lambda: read(body)), said(lambda: normalised(_slowly(body))))


@given(values(), st.randoms(use_true_random=False), st.data())
def test_a_key_that_stands_twice_is_never_missed(value: Any, chance: Random, data: st.DataObject) -> None:
    places = list(objects(value))
    assume(places)
    place = data.draw(st.sampled_from(places))
    rejection = refused(spelled(value, chance, place))
    assert rejection.code == "DUPLICATE_KEY"
    pointer = rejection.errors[0].pointer
    inside = "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in reference(list(place)))
    assert pointer.startswith(f"{inside}/")
    assert "/" not in pointer[len(inside) + 1 :]


def objects(value: Any, place: tuple[Any, ...] = ()) -> Any:
    if isinstance(value, dict):
        if value:
            yield place
        for name, item in value.items():
            yield from objects(item, (*place, name))
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from objects(item, (*place, index))


@pytest.mark.parametrize(
    "text, pointer",
    [
        ('{"a":1,"a":1}', "/a"),
        ('{"a":1,"\\u0061":1}', "/a"),
        ('{"a" :1,"a"\n:2}', "/a"),
        ('{"a":1,"a" :2}', "/a"),
        ('{"a"\t:1,"b":"\\":","b":2}', "/b"),
        ('{"x":[{"b":1},{"b":1,"b":2}]}', "/x/1/b"),
        ('{"":1,"":2}', "/"),
        ('{"a/b":1,"a\\/b":2}', "/a~1b"),
        ('{"m~n":{"k":1,"k":1}}', "/m~0n/k"),
        ('{"t":"\\":","k":1,"k":1}', "/k"),
        ('{"a":{"a":{"a":1,"a":2}}}', "/a/a/a"),
        ('{"😀":1,"\\ud83d\\ude00":2}', "/😀"),
        ('{"k":NaN,"k":1}', "/k"),
    ],
)
def test_a_doubled_key_is_told_with_its_place(text: str, pointer: str) -> None:
    rejection = refused(text)
    assert rejection.code == "DUPLICATE_KEY"
    assert rejection.errors[0].pointer == pointer


@pytest.mark.parametrize(
    "text", ['{"\\ud800":1,"\\ud801":2}', '{"a\\u0000":1,"a\\ufffd":2}', '{"x":{"\\udc00":1,"\\ufffd":1}}']
)
def test_keys_that_only_cleaning_makes_equal_are_doubled_too(text: str) -> None:
    assert refused(text).code == "DUPLICATE_KEY"


def test_a_place_whose_name_had_to_be_cleaned_can_be_told() -> None:
    for text in ('{"\\ud800":NaN}', '{"\\ud800":1,"\\ud800":1}', '{"\\u0000":[1e999]}'):
        assert b"\xef\xbf\xbd" in problem_json(refused(text))


@pytest.mark.parametrize(
    "text", ['{"a":1,"A":2}', '{"é":1,"e\\u0301":2}', '{"a":{"a":1},"b":{"a":1}}', '{"a":"\\"a\\":1"}']
)
def test_keys_that_differ_are_not_doubled(text: str) -> None:
    assert read(text) == json.loads(text)


@pytest.mark.parametrize(
    "body",
    [
        b"", b" ", b"{", b"}", b"{}x", b"{}\x00", b"{} {}", b"[1,]", b'{"a":1,}', b"{a:1}", b"{'a':1}", b"01", b"+1",
        b"0x10",
        b"1.", b".5", b"-", b"1e", b"nan", b"inf", b"True", b"undefined", b'"a\nb"', b'"\\x41"', b'"\\ud8"', b'"\x00"',
        b"\xef\xbb\xbf{}", '{"a":1}'.encode("utf-16"), '{"a":1}'.encode("utf-16-le"), '{"a":1}'.encode("utf-32"),
        b'"\xc0\xaf"', b'"\xe0\x80\xaf"', b'"\xf8\x88\x80\x80\x80"', b'"\xf4\x90\x80\x80"', b'"\xe9"', b'"\xff"',
        b'"\xe2\x82"',
        b"/* c */{}", b"{}//", b"\x0b{}", b"\xc2\xa0{}", b'{"a"}', b'{1:2}', b'{"a":1 "b":2}', b"\x1f\x8b\x08\x00",
    ],
)  # fmt: skip
def test_what_is_no_json_is_told_so(body: bytes) -> None:
    assert refused(body).code == "JSON_INVALID"


@pytest.mark.parametrize(
    "text, value",
    [
        ("-0", 0), ("-0.0", 0), ("-0e5", 0), ("0e0", 0), ("1E5", 100_000), ("1e+2", 100), ("100e-2", 1), ("1e-400", 0),
        ("9007199254740991", SAFE), ("-9007199254740991.0", -SAFE), ("1.5", 1.5), ("5e-324", 5e-324), ("0.1", 0.1),
    ],
)  # fmt: skip
def test_a_number_has_one_meaning_in_every_spelling(text: str, value: float) -> None:
    found = read(text)
    assert found == value
    assert type(found) is type(value)
    assert str(found) != "-0.0"


@pytest.mark.parametrize(
    "text",
    [
        "NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e999", "9007199254740992", "-9007199254740993",
        "9007199254740992.0",
        "1e16", "100000000000000000000", "1e20", "18446744073709551616", "1" + "0" * 400, "-1" + "0" * 5000,
        "1" * 5000 + ".5",
        "1e99999999999999999999",
    ],
)  # fmt: skip
def test_a_number_that_cannot_be_kept_is_refused_where_it_stands(text: str) -> None:
    rejection = refused(f'{{"a":[0,{text}],"b":1}}')
    assert rejection.code == "NUMBER_OUT_OF_RANGE"
    assert rejection.errors[0].pointer == "/a/1"


@pytest.mark.parametrize("depth", [DEPTH + 1, 100, 450, 600, 900])
@pytest.mark.parametrize("opens, closes", [("[", "]"), ('{"a":', "}")])
def test_a_body_that_is_nested_too_deep_is_refused(depth: int, opens: str, closes: str) -> None:
    assert refused(opens * depth + "1" + closes * depth).code in ("FIELD_INVALID", "JSON_INVALID")


@pytest.mark.parametrize("depth", [2_000, 100_000])
def test_no_depth_breaks_the_reader(depth: int) -> None:
    assert refused("[" * depth + "]" * depth).code in ("FIELD_INVALID", "JSON_INVALID")
    assert refused("[" * depth).code == "JSON_INVALID"


def test_the_deepest_body_that_is_allowed_is_read() -> None:
    assert read("[" * DEPTH + "]" * DEPTH)


@pytest.mark.parametrize(
    "text, meant",
    [
        ('"\\ud800"', "\ufffd"), ('"\\ud83d\\ude00"', "😀"), ('"\\ude00\\ud83d"', "\ufffd\ufffd"),
        ('"a\\u0000b"', "a\ufffdb"),
        ('"\\u2028\\u2029\\u0085"', "\u2028\u2029\x85"), ('"\\ufeff"', "\ufeff"), ('"\\/"', "/"),
        ('"\\ufffe"', "\ufffe"),
    ],
)  # fmt: skip
def test_texts_are_cleaned_and_otherwise_left_alone(text: str, meant: str) -> None:
    assert read(text) == meant


def test_raw_surrogates_are_cleaned_like_escaped_ones() -> None:
    assert read(b'["\xed\xa0\x80x"]') == ["\ufffdx"]


@pytest.mark.parametrize(
    "value, shape, pointer, code",
    [
        ({"taskIds": ["a", "b c"]}, BatchGet, "/taskIds/1", "ID_INVALID"),
        ({"taskIds": ["a"], "knownVersions": {"a": "01"}}, BatchGet, "/knownVersions", "FIELD_INVALID"),
        ({"taskIds": 1}, BatchGet, "/taskIds", "FIELD_INVALID"),
        ({"taskIds": [], "view": "all"}, BatchGet, "/view", "FIELD_INVALID"),
        ({}, BatchGet, "/taskIds", "FIELD_INVALID"),
        ({"taskIds": [], "extra": 1}, BatchGet, "/extra", "FIELD_INVALID"),
        ({"taskIds": [], "a/b~c": 1}, BatchGet, "/a~1b~0c", "FIELD_INVALID"),
        ({"taskIds": [], "A-Za-z0-9._~": 1}, BatchGet, "/A-Za-z0-9._~0", "FIELD_INVALID"),
        ({"taskIds": [], "`": 1}, BatchGet, "/`", "FIELD_INVALID"),
        ([], BatchGet, "", "FIELD_INVALID"),
        (None, CreateTask, "", "FIELD_INVALID"),
        (
            {"tenantId": "t", "ownerId": "o", "taskType": "T", "title": "x", "steps": [{"stepId": "s"}]},
            CreateTask,
            "/steps/0/operationCode",
            "FIELD_INVALID",
        ),
        (
            {
                "taskId": "k",
                "taskType": "T",
                "taskAttempt": 1,
                "eventType": "X",
                "error": {"category": "NO", "code": "c"},
            },
            EventBody,
            "/error/category",
            "FIELD_INVALID",
        ),
    ],
)
def test_what_does_not_fit_a_shape_is_told_with_its_place(value: Any, shape: Any, pointer: str, code: str) -> None:
    with pytest.raises(Rejection) as caught:
        converted(value, shape)
    assert caught.value.code == code
    assert caught.value.errors[0].pointer == pointer


def test_a_long_foreign_name_is_not_echoed_in_full() -> None:
    with pytest.raises(Rejection) as caught:
        converted({"taskIds": [], "k" * 100_000: 1}, BatchGet)
    assert len(str(caught.value.errors)) < 1_000


@given(values(wild_texts))
def test_no_value_breaks_the_reading_of_an_event(value: Any) -> None:
    for body in (value, {"taskId": value}, {"progress": value}, {"error": value}, {"events": value}):
        with pytest.raises(Rejection):
            converted(normalised(body), EventBody)
