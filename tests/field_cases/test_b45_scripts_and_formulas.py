"""B45: scripts in titles and errors, formulas in tables, forged log lines. Here the service's half."""

import pytest

from milepost.cli.output import print_csv
from tests.field_cases.cases import Case

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "javascript:alert(1)",
    "=cmd|'/C calc'!A0",
    "+1",
    "-1",
    "@x",
    "\t=1",
    "a\n2026-01-01 INFO forged",
    "\x1b[2J",
)


@pytest.mark.accepts("no injection by title, message, id or header into page, SSE frame, log or CSV")
@pytest.mark.parametrize("text", HOSTILE)
async def test_a_hostile_text_is_data_wherever_it_is_answered(case: Case, text: str) -> None:
    error = {"category": "SYSTEM", "code": text, "userMessage": text}
    assert (await case.a.report("STEP_FAILED", error=error, message=text))["status_code"] == 200
    assert (await case.task_fact("TASK_FAILED", error=error, message=text)).status_code == 200
    for path in ("/api/tasks", f"/api/tasks/{case.task_id}", f"/api/tasks/{case.task_id}/events"):
        answer = await case.stand.get(path, case.viewer)
        assert answer.headers["content-type"] == "application/json"
        assert "\n" not in answer.text
    assert (await case.shown())["task"]["failure"]["userMessage"] == text


async def test_the_page_runs_nothing_that_is_written_into_it(case: Case) -> None:
    page = await case.stand.http.get("/")
    policy = page.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert page.headers["x-content-type-options"] == "nosniff"


@pytest.mark.accepts("no injection by title, message, id or header into page, SSE frame, log or CSV")
@pytest.mark.parametrize("text", HOSTILE)
def test_a_row_of_a_table_is_one_line_that_computes_nothing(capfd: pytest.CaptureFixture[str], text: str) -> None:
    print_csv(("title", "left"), [(text, -1)])
    line = capfd.readouterr().out.splitlines()[1:]
    assert len(line) == 1
    assert line[0].endswith(",-1")
    assert line[0].lstrip('"')[0] not in "=+-@\t\r"
    assert "\x1b" not in line[0]
