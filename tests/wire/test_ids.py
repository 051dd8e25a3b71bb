"""Identifiers: one charset, compared byte for byte, and one reversible rule for foreign ones."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from milepost.wire.ids import PATTERN, checked, escaped, is_id, readable
from milepost.wire.problems import Rejection

foreign = st.text(min_size=1, max_size=40)


@pytest.mark.parametrize("text", ["a", "A.b_c-d~e", "0" * 128, "~", "~7c", "..", "-"])
def test_an_id_of_the_charset_is_taken_as_it_stands(text: str) -> None:
    assert checked(text, "/x") == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a" * 129,
        "a b",
        "a\n",
        "\na",
        "a\r",
        "a/b",
        "a:b",
        "a|b",
        "àbc",
        "abc ",
        "😀",
        "a\x00",
        "a%2Fb",
        "ａ",
        "a\u0301",
    ],
)
def test_what_is_outside_the_charset_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(Rejection) as caught:
        checked(text, "/taskId")
    assert caught.value.code == "ID_INVALID"
    assert caught.value.errors[0].pointer == "/taskId"


@given(foreign)
def test_an_escaped_foreign_id_comes_back_as_it_was(text: str) -> None:
    assume(len(text.encode("utf-8")) * 3 <= 128)
    ours = escaped(text)
    assert is_id(ours)
    assert readable(ours) == text


@given(foreign, foreign)
def test_two_foreign_ids_never_become_one(one: str, other: str) -> None:
    assume(one != other and max(len(one.encode()), len(other.encode())) * 3 <= 128)
    assert escaped(one) != escaped(other)


@pytest.mark.parametrize(
    "text, ours",
    [("auth0|42", "auth0~7c42"), ("me@x.org", "me~40x.org"), ("a~b", "a~7eb"), ("run:1", "run~3a1"), ("é", "~c3~a9")],
)
def test_the_rule_is_the_documented_one(text: str, ours: str) -> None:
    assert escaped(text) == ours


def test_the_accents_of_one_letter_stay_two_ids() -> None:
    assert escaped("é") != escaped("e\u0301")


def test_what_grows_beyond_the_limit_is_refused_and_never_cut() -> None:
    assert len(escaped("|" * 42)) == 126
    with pytest.raises(Rejection) as caught:
        escaped("|" * 43)
    assert caught.value.code == "ID_INVALID"


@given(st.text(alphabet="~0123456789abcdefg", min_size=1, max_size=20))
def test_reading_an_id_that_is_no_escaped_text_never_fails(text: str) -> None:
    assert isinstance(readable(text), str)


@given(st.text(max_size=130))
def test_the_published_pattern_and_the_code_agree(text: str) -> None:
    assert is_id(text) == bool(re.search(PATTERN, text))
    assert is_id(text) == bool(re.fullmatch(r"[A-Za-z0-9._~\-]{1,128}", text))
