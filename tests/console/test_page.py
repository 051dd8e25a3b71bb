"""The page in a real browser against the real program."""

import re
import time

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from milepost.worker import StepError
from tests.console.conftest import Site

pytestmark = pytest.mark.browser

CONNECTION = "#connection-text"


def signed_in(page: Page, site: Site) -> None:
    page.goto(site.link())
    expect(page.locator(CONNECTION)).to_have_text("Live")


@pytest.mark.accepts("no secret in a browser")
def test_the_link_signs_in_leaves_the_address_and_works_once(site: Site, page: Page, chromium: Browser):
    link = site.link()
    page.goto(link)
    expect(page.locator(CONNECTION)).to_have_text("Live")
    assert "code" not in page.url
    expect(page.locator("#who-name")).to_have_text(f"{site.user} at t1 · {site.project}")
    expect(page.locator("#empty")).to_contain_text("No tasks yet")
    # Again in the same browser: still signed in, and told so.
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("#banner")).to_contain_text("used already")
    expect(page.locator(CONNECTION)).to_have_text("Live")
    # In another one: signed out, and told why and what to do.
    with chromium.new_context() as other:
        stranger = other.new_page()
        stranger.goto(link)
        expect(stranger.locator("#signed-out-why")).to_contain_text("works once")
        expect(stranger.locator("#command")).to_contain_text("milepost session create")
        expect(stranger.locator("#board")).to_be_hidden()


def test_changes_show_by_themselves_and_timers_tick_without_requests(site: Site, page: Page):
    signed_in(page, site)
    task = site.task("contract.pdf")
    row = page.locator(".row", has_text="contract.pdf")
    expect(row.locator(".state")).to_have_text("Waiting")
    row.click()
    with site.reporter.step(task.contexts["02_parse"]) as step:
        step.progress(18, 36, unit="page")
        expect(page.locator(".step .amount")).to_have_text("18 of 36 pages")
        expect(row.locator(".state")).to_have_text("Running")
        expect(row.locator(".percent")).to_have_text("50 %")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        ticking = page.locator(".step .step-times .value").nth(1)
        before = ticking.inner_text()
        expect(ticking).not_to_have_text(before)
        assert asked == []
    task.complete()
    expect(row.locator(".state")).to_have_text("Succeeded")
    expect(page.locator(".detail .status")).to_contain_text("Succeeded")
    expect(page.locator(".timeline li").first).to_contain_text("Task completed")
    expect(page).to_have_title("contract.pdf – Milepost")
    standing = page.locator(".step .step-times .value").nth(1).inner_text()
    time.sleep(0.6)
    assert page.locator(".step .step-times .value").nth(1).inner_text() == standing


def test_a_failure_its_earlier_attempt_and_a_warning_are_shown_in_words(site: Site, page: Page):
    signed_in(page, site)
    task = site.task("broken.pdf")
    for _ in range(2):
        with site.reporter.step(task.contexts["02_parse"]) as step:
            step.fail(StepError("BUSINESS_INPUT", "PDF_DAMAGED", "The PDF is damaged.", retryable=True))
        if task.contexts["02_parse"].step_attempt == 1:
            task.open_step_attempt("02_parse")
    task.fail(StepError("BUSINESS_INPUT", "PDF_DAMAGED", "The PDF is damaged."), step_id="02_parse")
    page.locator(".row").click()
    expect(page.locator(".detail > .failure")).to_contain_text("PDF_DAMAGED The PDF is damaged. in 02_parse")
    expect(page.locator(".step .failure")).to_contain_text("may be retried")
    expect(page.locator(".step .attempt")).to_have_text("attempt 2")
    page.locator(".attempts summary").click()
    expect(page.locator(".earlier li")).to_contain_text("Attempt 1: Failed · PDF_DAMAGED")
    expect(page.locator("#counts")).to_contain_text("1 failed")


def test_the_page_survives_the_servers_death_and_says_so_all_the_while(site: Site, page: Page):
    signed_in(page, site)
    task = site.task("survivor.pdf")
    page.locator(".row").click()
    expect(page.locator(".step")).to_have_count(1)
    site.server.kill()
    expect(page.locator(CONNECTION)).to_have_text(re.compile("Reconnecting, as of|Offline, as of"))
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator(".step")).to_have_count(1)
    site.server.start()
    with site.reporter.step(task.contexts["02_parse"]):
        pass
    task.complete()
    expect(page.locator(CONNECTION)).to_have_text("Live", timeout=40_000)
    expect(page.locator(".row .state")).to_have_text("Succeeded")
    expect(page.locator(".detail .status")).to_contain_text("Succeeded", timeout=40_000)
    expect(page.locator(".timeline li").first).to_contain_text("Task completed")


@pytest.mark.accepts("messages during start-up not covered by an older snapshot")
def test_a_task_that_ends_while_the_snapshot_is_held_is_shown_as_ended(site: Site, page: Page):
    # B38: the answer to the list was read before the end and arrives after it.
    task = site.task("between.pdf")
    held: list[str] = []

    def hold(route: Route) -> None:
        reply = route.fetch()
        if not held:
            held.append(reply.text())
            with site.reporter.step(task.contexts["02_parse"]):
                pass
            task.complete()
        route.fulfill(response=reply)

    page.route("**/api/tasks?limit=*", hold)
    page.goto(site.link())
    expect(page.locator(".row .state")).to_have_text("Succeeded")
    assert '"PENDING"' in held[0]


def test_a_request_to_cancel_takes_two_clicks_and_shows_what_became_of_it(site: Site, page: Page):
    signed_in(page, site)
    task = site.task("long.txt")
    page.locator(".row").click()
    with site.reporter.step(task.contexts["02_parse"]) as step:
        page.get_by_role("button", name="Cancel task").click()
        assert not step.cancelled
        page.get_by_role("button", name="Really cancel?").click()
        expect(page.locator(".cancel-note")).to_contain_text("Asked to stop")
        expect(page.locator(".row .state")).to_contain_text("cancel requested")
        until = time.monotonic() + 10
        while not step.cancelled:
            assert time.monotonic() < until
            time.sleep(0.05)
        step.check()
    task.cancelled()
    expect(page.locator(".detail .status")).to_contain_text("Cancelled")
    expect(page.locator(".act")).to_be_hidden()


HOSTILE = [
    "<img src=x onerror=window.hit=1>",
    '"><svg onload=window.hit=1>',
    "javascript:window.hit=1//",
    "</title><script>window.hit=1</script>",
    "\u202egnp.exe \u2066right to left\u2069",
    "文档处理：合同（最终版）.pdf",
    "مستند طويل للمعالجة.pdf",
    "\x1b[2J\x1b[31mred",
    "=cmd|'/C calc'!A0",
    "W" * 300,
]


@pytest.mark.accepts("no injection by title, message, id or header into page, SSE frame, log or CSV")
def test_hostile_texts_are_inert_wherever_they_stand(site: Site, page: Page, troubles: list[str]):
    # B45
    signed_in(page, site)
    for text in HOSTILE:
        task = site.task(text)
        with site.reporter.step(task.contexts["02_parse"]) as step:
            step.stage(text)
            step.message(text)
            step.fail(StepError("SYSTEM", text[:60], text))
        task.fail(StepError("SYSTEM", text[:60], text), step_id="02_parse")
    expect(page.locator(".row")).to_have_count(len(HOSTILE))
    for number, text in enumerate(reversed(HOSTILE)):
        page.locator(".row").nth(number).click()
        expect(page.locator("#detail h1")).to_have_text(text)
        expect(page.locator(".timeline li").first).to_contain_text("Task failed")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("window.hit") is None
    assert page.locator(".detail img, .list img, script:not([src])").count() == 0
    assert troubles == []


def test_a_deep_link_opens_its_task_and_a_strange_one_does_no_harm(site: Site, page: Page):
    signed_in(page, site)
    task = site.task("deep.pdf")
    page.goto(f"{site.url}/#task={task.id}")
    expect(page.locator("#detail h1")).to_have_text("deep.pdf")
    page.goto(f"{site.url}/#task=nobody-knows-it")
    expect(page.locator("#banner")).to_contain_text("not there any more")
    expect(page.locator(".row")).to_have_count(1)
    page.goto(f"{site.url}/#task=%3Cimg%3E/../x")
    expect(page.locator("#choose")).to_be_visible()


def test_it_can_be_used_by_keyboard_alone(site: Site, page: Page):
    signed_in(page, site)
    for name in ("one.pdf", "two.pdf"):
        site.task(name)
        expect(page.locator(".row", has_text=name)).to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("#filter")).to_be_focused()
    page.keyboard.type("one")
    expect(page.locator(".row")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#detail h1")).to_have_text("one.pdf")
    page.keyboard.press("Escape")
    expect(page.locator("#detail")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_screen_shows_the_list_or_the_task(site: Site, page: Page, scheme):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 320, "height": 640})
    signed_in(page, site)
    site.task("a-rather-long-name-of-a-document-that-was-scanned-twice.pdf", "01_prepare", "02_parse")
    page.locator(".row").click()
    expect(page.locator(".step")).to_have_count(2)
    expect(page.locator(".tasks")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="All tasks", exact=True).click()
    expect(page.locator(".tasks")).to_be_visible()


def test_signing_out_ends_the_session_everywhere(site: Site, page: Page):
    signed_in(page, site)
    other = page.context.new_page()
    other.goto(site.url)
    expect(other.locator(CONNECTION)).to_have_text("Live")
    page.get_by_role("button", name="Sign out").click()
    expect(page.locator("#signed-out")).to_be_visible()
    expect(other.locator("#signed-out")).to_be_visible(timeout=40_000)
    assert page.request.get(f"{site.url}/api/session").status == 401


def test_an_end_pops_up_once_is_counted_and_is_marked_as_read_on_every_page(site: Site, page: Page):
    signed_in(page, site)
    site.task("contract.pdf").complete()
    expect(page.locator("#toast")).to_have_text("contract.pdf: The task succeeded.")
    expect(page.locator("#mark-read")).to_have_text("1 unread")
    with page.context.new_page() as other:
        other.goto(site.url)
        expect(other.locator("#mark-read")).to_have_text("1 unread")
        expect(other.locator("#toast")).to_be_hidden()
        other.locator("#mark-read").click()
        expect(other.locator("#unread")).to_be_hidden()
    expect(page.locator("#unread")).to_be_hidden()
