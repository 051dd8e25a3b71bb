import pytest

from tests.expected_skips import is_expected

SKIPPING = """
    import pytest

    @pytest.mark.parametrize("n", [1, 2])
    def test_away(n):
        pytest.skip("no database here")

    def test_here():
        pass

    @pytest.mark.xfail
    def test_known_wrong():
        raise RuntimeError
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    pytester.makepyfile(test_some=SKIPPING)
    tests = pytester.mkdir("tests")

    def run(*listed: str, ci: str = "true") -> pytest.RunResult:
        (tests / "expected-skips.txt").write_text("\n".join(listed), encoding="utf-8")
        monkeypatch.setenv("CI", ci)
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # a second each
        return pytester.runpytest_inprocess("-p", "tests.expected_skips")

    return run


def test_an_unexpected_skip_fails_the_run_in_ci(run):
    result = run("# nothing is expected")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["UNEXPECTED test_some.py::test_away?1?: no database here", "2 not named in*"])


@pytest.mark.parametrize(
    "entry",
    ["test_some.py::test_away", "test_some.py", "reason: no database  # it has none", "test_some.py::test_away[1]"],
)
def test_a_listed_skip_is_shown_and_passes(run, entry):
    result = run(entry, "test_some.py::test_away[2]")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["expected test_some.py::test_away?2?: no database here"])


def test_a_file_that_skips_itself_counts(run, pytester):
    pytester.makepyfile(test_other='import pytest\npytest.skip("whole file", allow_module_level=True)')
    result = run("test_some.py")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["UNEXPECTED test_other.py: whole file"])


def test_outside_ci_skips_are_free(run):
    assert run(ci="false").ret == pytest.ExitCode.OK


def test_a_name_is_not_matched_by_its_beginning():
    assert not is_expected("tests/test_a.py::test_one_more", "why", ["tests/test_a.py::test_one"])
