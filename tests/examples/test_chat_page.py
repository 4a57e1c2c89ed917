"""The chat's page, used by people with Chromium."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from harness.server import Server

CHAT = Path(__file__).parents[2] / "examples" / "chat"
SCRIPT = "<script>document.title = 'taken over'</script><img src=x onerror=\"document.title = 'taken over'\">"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The Chromium of the system, without a window. The tests fail where there is none."""
    program = shutil.which("chromium")
    if program is None:
        pytest.fail("chromium is not installed: apt-get install chromium", pytrace=False)
    # What runs as root, as in a container, cannot have Chromium's sandbox; the page is our own.
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(
            executable_path=program, chromium_sandbox=False, args=["--disable-dev-shm-usage"]
        ) as browser,
    ):
        yield browser


@pytest.fixture
def visit(browser) -> Iterator[Callable[[Server, str], Page]]:
    """A function that opens the chat in a browser of its own and joins: `visit(server, name) -> Page`."""
    contexts = []

    def visit(server: Server, name: str) -> Page:
        contexts.append(browser.new_context())
        page = contexts[-1].new_page()
        page.goto(server.url)
        page.get_by_label("Your name").fill(name)
        page.get_by_role("button", name="Join").click()
        return page

    yield visit
    for context in contexts:
        context.close()


def say(page: Page, text: str) -> None:
    page.get_by_label("Message").fill(text)
    page.get_by_role("button", name="Send").click()


def messages(page: Page) -> list[str]:
    return page.locator("#messages li").all_inner_texts()


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_two_pages_chat_with_each_other(serve, visit, loop):
    server = serve("chat:app", "--loop", loop, app_dir=CHAT)
    ann = visit(server, "Ann")
    expect(ann.locator("#members")).to_have_text("Here: Ann")
    bob = visit(server, "Bob")
    expect(ann.locator("#members")).to_have_text("Here: Ann, Bob")
    say(ann, "Hello Bob")
    expect(bob.locator("#messages li").last).to_contain_text("Hello Bob")
    say(bob, "Hello Ann")
    expect(ann.locator("#messages li").last).to_contain_text("Hello Ann")
    assert messages(ann) == ["Ann joined", "Bob joined", "AnnHello Bob", "BobHello Ann"]
    assert messages(bob) == ["Bob joined", "AnnHello Bob", "BobHello Ann"]
    bob.close()
    expect(ann.locator("#members")).to_have_text("Here: Ann")


def test_a_script_is_shown_as_text(serve, visit):
    server = serve("chat:app", app_dir=CHAT)
    ann, bob = visit(server, "Ann"), visit(server, "<b>Bob</b>")
    say(bob, SCRIPT)
    expect(ann.locator("#messages li").last).to_contain_text(SCRIPT)
    assert messages(ann)[-1] == f"<b>Bob</b>{SCRIPT}"
    expect(ann.locator("#members")).to_contain_text("<b>Bob</b>")
    assert ann.locator("#messages img, #messages script, #messages b b, #members b").count() == 0
    assert "taken over" not in (ann.title(), bob.title())


def test_a_name_that_is_taken_can_be_changed(serve, visit):
    server = serve("chat:app", app_dir=CHAT)
    expect(visit(server, "Ann").locator("#members")).to_have_text("Here: Ann")
    other = visit(server, "Ann")
    expect(other.get_by_role("status")).to_have_text("Somebody in this room has this name already.")
    other.get_by_label("Your name").fill("Anna")
    other.get_by_role("button", name="Join").click()
    expect(other.locator("#members")).to_have_text("Here: Ann, Anna")


def test_the_pages_connect_again_when_the_server_is_restarted(serve, visit):
    server = serve("chat:app", app_dir=CHAT)
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    expect(ann.locator("#members")).to_have_text("Here: Ann, Bob")
    say(ann, "before")
    expect(bob.locator("#messages li").last).to_contain_text("before")
    assert server.stop() == 0
    expect(ann.get_by_role("status")).to_contain_text("Connecting")
    serve("chat:app", "--bind", f"{server.host}:{server.port}", app_dir=CHAT)
    for page in (ann, bob):
        expect(page.locator("#members")).to_have_text("Here: Ann, Bob", timeout=20_000)
        expect(page.get_by_role("status")).to_have_text("")
    say(bob, "after")
    expect(ann.locator("#messages li").last).to_contain_text("after")
    assert "Annbefore" in messages(ann)


def test_a_page_that_connects_again_shows_nothing_twice(serve, visit):
    server = serve("chat:app", app_dir=CHAT)
    ann, bob = visit(server, "Ann"), visit(server, "Bob")  # who keeps the room, and so what was said in it
    say(bob, "once")
    expect(ann.locator("#messages li").last).to_contain_text("once")
    before = messages(ann)
    ann.evaluate("socket.close()")
    expect(bob.locator("#messages li").last).to_have_text("Ann joined")
    say(bob, "and then")
    expect(ann.locator("#messages li").last).to_contain_text("and then")
    assert messages(ann) == [*before, "Ann joined", "Boband then"]


def test_the_pages_connect_again_when_the_worker_is_replaced(serve, visit):
    server = serve("chat:app", app_dir=CHAT, supervised=True)
    ann = visit(server, "Ann")
    expect(ann.locator("#members")).to_have_text("Here: Ann")
    server.signal(signal.SIGHUP)
    expect(ann.locator("#messages li.note")).to_have_count(2, timeout=20_000)
    say(ann, "after")
    expect(ann.locator("#messages li").last).to_contain_text("after")
