"""Every check of every rule, each input whole, cut at every CRLF and byte by byte, against one server with the defaults."""

import pytest

from harness.rule import checks_of
from rules import exhaustion, framing, request_head, response, wsgi

# The deadlines are cut to 600 ms, but for the minimum rate, which is looked at after 5 s.
DEADLINES_WITHIN = 8.0


def attempts(module):
    named = [attempt for check in checks_of(module) for attempt in check.attempts()]
    return pytest.mark.parametrize("attempt", [one for _, one in named], ids=[name for name, _ in named])


@attempts(request_head)
def test_request_head(share, attempt):
    attempt.against(share(attempt.check.app, *attempt.check.hurried))


@attempts(framing)
def test_framing(share, attempt):
    attempt.against(share(attempt.check.app, *attempt.check.hurried))


@attempts(response)
def test_response(share, attempt):
    attempt.against(share(attempt.check.app, *attempt.check.hurried))


@attempts(wsgi)
def test_wsgi(share, attempt):
    attempt.against(share(attempt.check.app, *attempt.check.hurried))


@attempts(exhaustion)
def test_exhaustion(share, attempt):
    attempt.against(share(attempt.check.app, *attempt.check.hurried), DEADLINES_WITHIN)
