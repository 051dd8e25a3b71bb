"""Documents are read from YAML and JSON alike, with the line of every place, and nothing odd in them is guessed at."""

import json

import pytest

from milepost.definitions.reading import LIMIT, read


def test_yaml_and_json_say_the_same():
    value = {"taskType": "T", "version": 1, "statuses": [{"code": "A", "weight": 1.5, "enabled": True}], "none": None}
    text = "taskType: T\nversion: 1\nstatuses:\n  - code: A\n    weight: 1.5\n    enabled: true\nnone:\n"
    assert read(text.encode()).value == value
    assert read(json.dumps(value).encode()).value == value
    assert read(json.dumps(value, indent="\t").encode()).value == value


def test_every_place_knows_its_line():
    source = read(b"taskType: T\n\nstatuses:\n  - code: A\n    scope:\n      - task\n      - step\n")
    places = ("/taskType", "/statuses", "/statuses/0", "/statuses/0/scope", "/statuses/0/scope/1")
    assert [source.line_of(place) for place in places] == [1, 3, 4, 5, 7]
    assert source.line_of("/statuses/0/missing") == 4
    assert source.line_of("/nowhere/at/all") == 1


def test_json_knows_its_lines_too():
    source = read(b'{\n "a": 1,\n "b/c": [\n  2,\n  {"d": 3}\n ]\n}')
    assert [source.line_of(place) for place in ("/a", "/b~1c", "/b~1c/1/d")] == [2, 3, 5]


@pytest.mark.parametrize(
    "text,value",
    [
        ("NO", "NO"),
        ("on", "on"),
        ("12:30", "12:30"),
        ("2024-01-01", "2024-01-01"),
        ("0o17", 15),
        ("0x1f", 31),
        ("017", 17),
        ("1_000", "1_000"),
        ("1.0", 1),
        ("1e3", 1000),
        ("~", None),
        ("True", True),
        ('"1"', "1"),
    ],
)
def test_plain_values_are_what_they_look_like(text: str, value: object):
    found = read(f"a: {text}\n".encode()).value["a"]
    assert (found, type(found)) == (value, type(value))


def test_two_halves_of_a_character_become_one_and_a_lonely_one_is_marked():
    assert read(rb'{"a": "\ud83d\ude00"}').value == {"a": "😀"}
    assert read(rb'{"a": "\ud83d"}').value == {"a": "\ufffd"}


@pytest.mark.parametrize(
    "text,line,wrong",
    [
        ("a: 1\nb: 2\na: 3\n", 3, "the key a stands twice"),
        ("a: &x [1]\nb: *x\n", 2, "an anchor is used again here"),
        ("a: 1\nb: !!python/name:os.system x\n", 2, "the tag tag:yaml.org,2002:python/name:os.system is not taken"),
        ("a: !!set {b}\n", 1, "the tag tag:yaml.org,2002:set is not taken"),
        ("a:\n  - .inf\n", 2, "a number must be finite"),
        ("a: 1e999\n", 1, "a number must be finite"),
        ("a: 9007199254740993\n", 1, "this number is too large"),
    ],
)
def test_what_could_be_read_in_two_ways_is_said(text: str, line: int, wrong: str):
    assert [(one.line, one.wrong) for one in read(text.encode()).findings] == [(line, wrong)]


@pytest.mark.parametrize(
    "text,line,wrong",
    [
        (b"a: 1\nb: [1\n", 3, "this is neither YAML nor JSON"),
        (b'{"a": 1,\n}', 2, "this is not valid JSON"),
        (b"a: 1\n---\na: 2\n", 2, "this is neither YAML nor JSON"),
        (b"a: b\n c: d\n", 2, "this is neither YAML nor JSON"),
        (b"[" * 5000 + b"]" * 5000, 1, "this is neither YAML nor JSON: it is nested too deeply"),
        (b"a: \x01", 1, "this is neither YAML nor JSON"),
        (b"a\n: \xff", 2, "the text is not UTF-8"),
        (b"#" * (LIMIT + 1), 1, "the document is larger than 256 KiB"),
    ],
)
def test_what_cannot_be_read_is_one_finding_and_no_value(text: bytes, line: int, wrong: str):
    source = read(text)
    assert source.value is None
    (finding,) = source.findings
    assert (finding.line, finding.wrong[: len(wrong)], finding.level) == (line, wrong, "error")
    assert "\n" not in finding.wrong


def test_deep_nesting_is_said_where_it_begins_to_be_too_deep():
    text = "a: " + "[" * 40 + "]" * 40
    assert {one.wrong for one in read(text.encode()).findings} == {"nested deeper than 32 levels"}
