"""The checks of the protocol rules against an application with an event loop: the same engine serves it, so every outcome is the same.

Of the deliveries a part, as the parser is the one that tests/rules tries with all of them.
"""

import pytest

from harness.delivery import DELIVERIES
from harness.rule import checks_of
from rules import exhaustion, framing, request_head, response

# The deadlines are cut to 600 ms, but for the minimum rate, which is looked at after 5 s.
DEADLINES_WITHIN = 8.0


def attempts(module, *deliveries):
    """The attempts of the checks in a module that are delivered in these ways, or all."""
    wanted = [DELIVERIES[name] for name in deliveries or DELIVERIES]
    named = [attempt for check in checks_of(module) for attempt in check.attempts() if attempt[1].delivery in wanted]
    return pytest.mark.parametrize("attempt", [one for _, one in named], ids=[name for name, _ in named])


@attempts(request_head, "whole")
def test_request_head(share_asgi, attempt):
    attempt.against(share_asgi(attempt.check.app, *attempt.check.hurried))


@attempts(framing, "whole", "by byte")
def test_framing(share_asgi, attempt):
    attempt.against(share_asgi(attempt.check.app, *attempt.check.hurried))


@attempts(response, "whole")
def test_response(share_asgi, attempt):
    attempt.against(share_asgi(attempt.check.app, *attempt.check.hurried))


@attempts(exhaustion)
def test_exhaustion(share_asgi, attempt):
    attempt.against(share_asgi(attempt.check.app, *attempt.check.hurried), DEADLINES_WITHIN)
