"""In CI a test that did not run must be on the list.

A skip is silent: a missing browser or database would turn all of its tests off and leave the run green. So where the
environment says CI=true, each skip is printed with its reason, and one that `expected-skips.txt` does not name turns
the run red. A line of that file is a node id (of a file, a class, a test, or one parameter set), or `reason: ` and the
start of a reason; `#` begins a comment.
"""

import os
from collections.abc import Iterable

import pytest

LIST = "expected-skips.txt"


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CI") != "true":
        return
    path = config.rootpath / "tests" / LIST
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    config.pluginmanager.register(SkipLedger(lines), "skip-ledger")


def is_expected(nodeid: str, reason: str, entries: Iterable[str]) -> bool:
    """True if one entry names the node, something that holds it, or the start of its reason."""
    for entry in entries:
        if entry.startswith("reason:"):
            if reason.startswith(entry.removeprefix("reason:").strip()):
                return True
        elif nodeid == entry or nodeid.startswith((f"{entry}::", f"{entry}[", f"{entry}/")):
            return True
    return False


class SkipLedger:
    """Notes every skip of a run and fails the run for those nobody expects."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._entries = [text for line in lines if (text := line.split("#")[0].strip())]
        self._skips: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not hasattr(report, "wasxfail"):
            self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.skipped:
            text = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self._skips[report.nodeid] = text.removeprefix("Skipped: ")

    def unexpected(self) -> list[str]:
        return [nodeid for nodeid, reason in self._skips.items() if not is_expected(nodeid, reason, self._entries)]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.unexpected() and session.exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        unexpected = set(self.unexpected())
        if self._skips:
            terminalreporter.section("skips")
        for nodeid, reason in self._skips.items():
            word = "UNEXPECTED" if nodeid in unexpected else "expected"
            terminalreporter.line(f"{word} {nodeid}: {reason}", red=nodeid in unexpected)
        if unexpected:
            terminalreporter.line(f"{len(unexpected)} not named in tests/{LIST}: the run fails", red=True)
