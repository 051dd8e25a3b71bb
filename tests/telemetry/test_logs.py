import io
import json
import logging

import pytest

from milepost.telemetry.logs import configure


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def root():
    """The root logger, put back afterwards."""
    held = logging.getLogger()
    before, level = held.handlers[:], held.level
    yield held
    held.handlers[:] = before
    held.setLevel(level)
    logging.raiseExceptions = True


AWKWARD = 'a\nb\r\u2028\u2029\x85\x0b\x1b[2J\x00"\\\ud800 é 漢 🚀'


@pytest.mark.accepts("no injection by title, message, id or header into page, SSE frame, log or CSV")
def test_a_record_is_one_json_object_on_one_line_whatever_is_in_it(root):
    out = io.StringIO()
    configure("info", "json", out)
    logging.getLogger("milepost.api").warning(AWKWARD, extra={"task_id": AWKWARD, "attempt": 3})
    assert out.getvalue().splitlines() == [out.getvalue()[:-1]]
    line = json.loads(out.getvalue())
    assert line["message"] == line["task_id"] == AWKWARD
    assert (line["level"], line["logger"], line["attempt"]) == ("warning", "milepost.api", 3)
    assert line["time"].endswith("Z")


def test_a_traceback_stays_inside_its_line(root):
    out = io.StringIO()
    configure("info", "json", out)
    try:
        raise ValueError("two\nlines")
    except ValueError:
        logging.getLogger("x").exception("it failed")
    assert len(out.getvalue().splitlines()) == 1
    assert "ValueError: two\nlines" in json.loads(out.getvalue())["traceback"]


def test_a_terminal_gets_text_for_people_that_cannot_steer_it(root):
    out = Terminal()
    assert configure("info", "auto", out)
    logging.getLogger("x").info(AWKWARD, extra={"task": "t1"})
    assert len(out.getvalue().splitlines()) == 1
    assert "\x1b" not in out.getvalue()
    assert "é 漢 🚀" in out.getvalue()
    assert out.getvalue().endswith(" task=t1\n")


def test_what_is_no_terminal_gets_json(root):
    out = io.StringIO()
    assert not configure("info", "auto", out)
    logging.getLogger("x").info("hello")
    assert json.loads(out.getvalue())["message"] == "hello"


def test_less_severe_records_are_left_out(root):
    out = io.StringIO()
    configure("warning", "json", out)
    logging.getLogger("milepost.x").info("quiet")
    assert out.getvalue() == ""


@pytest.mark.parametrize("form", ["json", "text"])
def test_secrets_are_taken_out_of_messages_fields_and_tracebacks(root, form):
    secret = "mpc_0123456789abcdef_" + "h" * 43
    out = io.StringIO()
    configure("info", form, out)
    try:
        raise ValueError(f"bad {secret}")
    except ValueError:
        logging.getLogger("x").exception("with %s", secret, extra={"header": f"Bearer {secret}"})
    assert "hhhh" not in out.getvalue()
    assert out.getvalue().count("(hidden)") >= 3


def test_trouble_in_writing_a_record_never_reaches_the_work(root):
    out = io.StringIO()
    configure("info", "json", out)
    out.close()
    logging.getLogger("x").info("lost")
