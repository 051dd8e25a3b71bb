"""Numbers, instants and cursors on the wire."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.wire.numbers import Decimal, cursor, cut_fraction, instant, milliseconds, parse_cursor

FIRST = -62_135_596_800_000
LAST = 253_402_300_799_999


@given(st.integers(FIRST, LAST))
def test_an_instant_reads_back_to_the_same_millisecond(ms: int) -> None:
    text = instant(ms)
    assert len(text) == 24
    assert milliseconds(datetime.fromisoformat(text)) == ms


def test_an_instant_has_four_digits_for_its_year_and_three_for_its_milliseconds() -> None:
    assert instant(0) == "1970-01-01T00:00:00.000Z"
    assert instant(-1) == "1969-12-31T23:59:59.999Z"
    assert instant(FIRST) == "0001-01-01T00:00:00.000Z"
    assert instant(LAST) == "9999-12-31T23:59:59.999Z"


@given(st.datetimes(timezones=st.just(UTC)), st.integers(-14 * 60, 14 * 60))
def test_the_offset_a_time_is_written_in_does_not_move_it(when: datetime, minutes: int) -> None:
    from datetime import timezone

    try:
        moved = when.astimezone(timezone(timedelta(minutes=minutes)))
    except OverflowError:
        return
    assert milliseconds(moved) == milliseconds(when)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_at_the_edge_of_the_calendar_can_still_be_told(text: str) -> None:
    assert instant(milliseconds(datetime.fromisoformat(text)))[4] == "-"


def test_microseconds_are_cut_and_never_rounded() -> None:
    assert milliseconds(datetime(2027, 1, 15, 8, 0, 59, 999_999, UTC)) % 1000 == 999
    assert milliseconds(datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC)) == -1


@pytest.mark.parametrize(
    "text, kept",
    [
        ("2027-01-15T08:00:00.9999999Z", "2027-01-15T08:00:00.999Z"),
        ("2027-01-15T08:00:00.123456789123+01:00", "2027-01-15T08:00:00.123+01:00"),
        ("2027-01-15T08:00:00.12Z", "2027-01-15T08:00:00.12Z"),
        ("2027-01-15T08:00:00Z", "2027-01-15T08:00:00Z"),
        ("2027-01-15T08:00:00.1234junk", "2027-01-15T08:00:00.123junk"),
    ],
)
def test_what_lies_beyond_a_millisecond_is_cut_from_the_text_of_a_time(text: str, kept: str) -> None:
    assert cut_fraction(text) == kept


@given(st.text(alphabet="abcXYZ019", min_size=1, max_size=32), st.integers(0, 10**18 - 1))
def test_a_cursor_reads_back(epoch: str, position: int) -> None:
    assert parse_cursor(cursor(epoch, position)) == (epoch, position)


@pytest.mark.parametrize(
    "text",
    [
        "", ":", "e:", ":1", "e:01", "e:-1", "e:+1", "e:1\n", "e:1 ", " e:1", "e:1:1", "e:１", "e:²", "e:1.0", "e:1e3",
        "e" * 33 + ":1", "e_:1", "e:" + "9" * 19, "é:1", "e:0x1",
    ],
)  # fmt: skip
def test_what_is_no_cursor_is_none(text: str) -> None:
    assert parse_cursor(text) is None


def test_the_largest_cursor_and_decimal_fit_a_signed_64_bit_integer() -> None:
    assert parse_cursor("e:" + "9" * 18) == ("e", 10**18 - 1)
    assert 10**18 - 1 < 2**63
    assert msgspec.convert("9" * 18, Decimal)
    for bad in ("9" * 19, "01", "-1", "", "1\n", "٣"):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(bad, Decimal)
