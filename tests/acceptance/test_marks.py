"""Every line of acceptance is carried by a test or names the part that will carry it; the page says which."""

from tests.acceptance.marks import PAGE, groups, marks, marks_in, page, parts

LATER = {line: later for lines in groups().values() for line, later in lines.items()}


def test_every_mark_is_a_line_word_for_word():
    assert [mark for mark in marks() if mark.line not in LATER] == []


def test_every_line_is_carried_by_a_test_or_names_its_later_part():
    carried = {mark.line for mark in marks()}
    assert [line for line, later in LATER.items() if not later and line not in carried] == []


def test_no_line_is_both_carried_and_still_to_come():
    assert [mark for mark in marks() if LATER.get(mark.line)] == []


def test_every_later_part_is_one_that_is_still_to_come():
    assert {later for later in LATER.values() if later} == set(parts())


def test_no_line_stands_twice():
    assert len(LATER) == sum(map(len, groups().values()))


def test_the_page_is_what_the_marks_say():
    assert PAGE.read_text(encoding="utf-8") == page(), "run scripts/acceptance"


def test_a_mark_is_found_wherever_the_function_stands():
    source = "class A:\n    @pytest.mark.accepts('one', 'two')\n    @other\n    async def test_it(self): ...\n"
    assert [(mark.line, mark.name) for mark in marks_in(source, "f")] == [("one", "test_it"), ("two", "test_it")]
