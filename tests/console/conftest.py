import itertools
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from milepost.worker import Coordinator, Limits, Reporter, Task
from tests.parts.program import Program, program

expect.set_options(timeout=20_000)  # machines that run all tests at once are slow


class Services:
    """A running program and two services that report to it; shared, for starting them takes seconds."""

    def __init__(self, server: Program) -> None:
        self.server = server
        secret = server.credential("api", "report,coordinate")
        self.coordinator = Coordinator(server.url, credential=secret)
        self.reporter = Reporter(
            server.url, credential=server.credential("parser"), limits=Limits(heartbeat=0.5, progress=0.05)
        )


class Site:
    """One user's part of it: tests do not see one another's tasks."""

    def __init__(self, services: Services, number: int) -> None:
        self.server = services.server
        self.url = self.server.url
        self.coordinator = services.coordinator
        self.reporter = services.reporter
        self.user, self.project = f"u{number}", f"p{number}"

    def link(self) -> str:
        """A new sign-in link."""
        asked = ("session", "create", "--tenant", "t1", "--user", self.user, "--project", self.project)
        return str(self.server.json(*asked, "--url", self.url)["link"])

    def task(self, title: str = "a.pdf", *steps: str) -> Task:
        """A new task whose steps are all of the parser."""
        plans = [(step, "DOCUMENT.PARSE", "parser") for step in steps or ("02_parse",)]
        return self.coordinator.create(
            tenant="t1", owner=self.user, project=self.project, type="DOCUMENT_PROCESS", title=title, steps=plans
        )


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    with program(tmp_path_factory.mktemp("console")) as server:
        made = Services(server)
        yield made
        made.reporter.close(timeout=1)
        made.coordinator.close()


NUMBERS = itertools.count(1)


@pytest.fixture
def site(services: Services) -> Site:
    return Site(services, next(NUMBERS))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    # Ended with each file: while it runs, its event loop holds this thread and no coroutine of another test could run.
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("no chromium here")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def troubles() -> list[str]:
    """What the page complained about: errors of scripts, and what the content policy refused."""
    return []


@pytest.fixture
def page(chromium: Browser, troubles: list[str]) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 1280, "height": 860})
    made = context.new_page()
    made.on("pageerror", lambda error: troubles.append(str(error)))
    made.on("console", lambda said: troubles.append(said.text) if "Content Security Policy" in said.text else None)
    made.set_default_timeout(15_000)
    yield made
    context.close()
    assert troubles == []
