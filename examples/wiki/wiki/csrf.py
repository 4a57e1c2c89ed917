"""Forms that only this wiki can have sent: a token bound to a cookie of the client.

The pattern is known as the signed double-submit cookie.
"""

from __future__ import annotations

import hmac
import secrets

from .request import HttpError, Request


class Csrf:
    """Gives and checks the tokens of forms; ``secret`` is the key they are made with."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def issue(self, request: Request) -> tuple[str, list[tuple[str, str]]]:
        """The token for a form, and the fields its response needs so that the token will be accepted."""
        session = request.cookie(_COOKIE)
        if session:
            return self._token(session), []
        session = secrets.token_urlsafe(18)
        secure = "; Secure" if request.secure else ""
        cookie = f"{_COOKIE}={session}; Path={request.urls.root()}; HttpOnly; SameSite=Lax{secure}"
        return self._token(session), [("Set-Cookie", cookie)]

    def check(self, request: Request, token: str) -> None:
        """Refuse with 403 a form whose token does not belong to the cookie it came with."""
        session = request.cookie(_COOKIE)
        expected = self._token(session)
        if not session or not hmac.compare_digest(token.encode(), expected.encode()):
            raise HttpError(403, "This form has expired. Go back, reload the page, and send it again.")

    def _token(self, session: str) -> str:
        return hmac.digest(self._secret, session.encode(), "sha256").hex()


_COOKIE = "wiki_session"
