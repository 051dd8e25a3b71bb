"""Silence counts only while somebody listened."""

from milepost.domain.listening import GAP_MS, Listening, Span


def test_spans_that_are_no_further_apart_than_a_gap_are_one() -> None:
    listening = Listening.of([Span(100_000, 150_000), Span(0, 100_000 - GAP_MS)])
    assert listening.spans == (Span(0, 150_000),)
    assert listening.since(150_000) == 0


def test_one_process_among_several_is_enough() -> None:
    listening = Listening.of([Span(0, 100_000), Span(90_000, 300_000), Span(10_000, 20_000)])
    assert listening.spans == (Span(0, 300_000),)


def test_nobody_listens_when_the_last_stamp_is_old() -> None:
    listening = Listening.of([Span(0, 100_000)])
    assert listening.since(100_000 + GAP_MS) == 0
    assert listening.since(100_001 + GAP_MS) is None
    assert Listening().since(0) is None


def test_gaps_are_subtracted_from_a_silence() -> None:
    listening = Listening.of([Span(0, 60_000), Span(200_000, 300_000)])
    assert listening.heard_ms(10_000, 300_000) == 50_000 + 100_000
    assert listening.heard_ms(100_000, 300_000) == 100_000
    assert listening.heard_ms(250_000, 305_000) == 55_000


def test_the_time_since_the_last_stamp_counts_while_it_is_no_gap() -> None:
    listening = Listening.of([Span(0, 60_000)])
    assert listening.heard_ms(50_000, 65_000) == 15_000
    assert listening.heard_ms(62_000, 65_000) == 3_000
    assert listening.heard_ms(50_000, 60_001 + GAP_MS) == 10_000


def test_a_silence_is_long_enough_only_a_whole_limit_after_a_gap() -> None:
    listening = Listening.of([Span(0, 100_000), Span(200_000, 300_000)])
    assert not listening.long_enough(10_000, 60_000, 60_000, 259_999)
    assert listening.long_enough(10_000, 60_000, 60_000, 260_000)
    assert not listening.long_enough(240_001, 60_000, 60_000, 300_000)
    assert listening.long_enough(240_000, 60_000, 60_000, 300_000)
    assert not listening.long_enough(0, 60_000, 60_000, 400_000)
