"""Texts that people will read: cleaned and cut, never refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.wire.texts import MARK, clean, cut

anything = st.text(alphabet=st.characters(exclude_categories=()), max_size=60)


@given(anything)
def test_a_clean_text_can_be_stored_and_sent_anywhere(text: str) -> None:
    cleaned = clean(text)
    assert "\x00" not in cleaned
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned


@given(anything)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(st.text(max_size=60))
def test_a_text_without_fault_stays_as_it_is(text: str) -> None:
    assert clean(text) == text.replace("\x00", "\ufffd")


@pytest.mark.parametrize(
    "text, cleaned",
    [
        ("a\x00b", "a\ufffdb"),
        ("\ud83d", "\ufffd"),
        ("\ud83dx\ude00", "\ufffdx\ufffd"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ufffe\uffff", "\ufffe\uffff"),
        ("\ufeffa", "\ufeffa"),
        ("e\u0301", "e\u0301"),
        ("\u202eabc", "\u202eabc"),
        ("🚀\ud800🚀", "🚀\ufffd🚀"),
    ],
)
def test_only_nul_and_lone_surrogates_are_replaced(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@given(st.text(max_size=80), st.integers(20, 60))
def test_a_cut_text_has_the_limit_and_says_so(text: str, limit: int) -> None:
    short = cut(text, limit)
    assert short is not None
    assert len(short) <= limit
    assert short == text if len(text) <= limit else short.endswith(MARK)


def test_a_cut_never_splits_a_character_beyond_the_basic_plane() -> None:
    assert cut("🚀" * 301, 300) == "🚀" * (300 - len(MARK)) + MARK
