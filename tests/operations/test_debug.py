"""Tracebacks in the browser: with `debug`, and never without."""

from pathlib import Path

import pytest

from harness.request import get, head
from harness.response import Aborted

APPS = Path(__file__).parent / "apps"
BROWSER = b"Accept: text/html,application/xhtml+xml,*/*;q=0.8"


@pytest.fixture
def debugged(serve):
    """A server that shows tracebacks."""
    return serve("failing:app", "--debug", app_dir=APPS)


def ask(server, target, *fields):
    """The response to a GET."""
    with server.raw() as client:
        return client.ask(get(*fields, target=target))


def test_a_browser_gets_the_traceback_as_a_page(debugged):
    response = ask(debugged, b"/early", BROWSER)
    assert (response.status, response.reason) == (500, "Internal Server Error")
    assert response.get("content-type") == "text/html; charset=utf-8"
    text = response.body.decode()
    assert "<title>ValueError: on purpose</title>" in text
    assert "Traceback (most recent call last):" in text
    assert "failing.py" in text


def test_other_clients_get_it_as_plain_text(debugged):
    for fields in ([], [b"Accept: application/json"]):
        response = ask(debugged, b"/early", *fields)
        assert response.status == 500
        assert response.get("content-type") == "text/plain; charset=utf-8"
        assert response.body.startswith(b"Traceback (most recent call last):")
        assert response.body.endswith(b"ValueError: on purpose\n")


def test_what_a_client_sent_is_text_in_the_page(debugged):
    response = ask(debugged, b"/named?<script>alert('1')</script>&\"", BROWSER)
    assert b"<script>" not in response.body
    assert b"&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;" in response.body


def test_fields_that_the_application_set_before_are_not_sent(debugged):
    response = ask(debugged, b"/headed", BROWSER)
    assert response.status == 500
    assert response.get("x-secret") is None
    assert b"after start_response" in response.body


def test_a_response_that_has_begun_is_cut(debugged):
    with debugged.raw() as client, pytest.raises(Aborted):
        client.ask(get(target=b"/late"))


def test_head_gets_no_body(debugged):
    with debugged.raw() as client:
        response = client.ask(head(b"HEAD /early HTTP/1.1", b"Host: test"), "HEAD")
        assert (response.status, response.body) == (500, b"")


def test_the_log_has_it_too_and_says_that_clients_see_it(debugged):
    ask(debugged, b"/early")
    debugged.wait_for_log("ValueError: on purpose")
    assert "[WARNING] debug is on: clients see the tracebacks of failures" in debugged.log()


def test_without_it_no_client_sees_anything(serve):
    server = serve("failing:app", app_dir=APPS)
    for target in (b"/early", b"/headed"):
        response = ask(server, target, BROWSER)
        assert response.status == 500
        assert b"ValueError" not in response.body and b"failing" not in response.body
    assert "debug is on" not in server.log()
