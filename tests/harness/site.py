"""A server and a way to deliver requests to it: what a check of a rule talks to."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.client import Client
from harness.delivery import Delivery, whole
from harness.response import ResetByServer, Response

# Sent when a request was answered. A server that goes on with the connection answers it and closes; one that does not must
# never look at it.
AFTER = b"GET /after HTTP/1.1\r\nHost: after\r\nConnection: close\r\n\r\n"


class Listens(Protocol):
    """A server that can be connected to; `pid` is the process that serves."""

    @property
    def pid(self) -> int:
        """The process id."""

    def raw(self, timeout: float = 5.0, receive_buffer: int | None = None) -> Client:
        """A new connection."""


@dataclass
class Outcome:
    """What came of a request: the responses up to the one to AFTER, and whether AFTER was answered too."""

    responses: list[Response]
    went_on: bool
    interim: list[Response] = field(default_factory=list)

    def only(self) -> Response:
        """The one response there must be."""
        statuses = [response.status for response in self.responses]
        assert len(self.responses) == 1, f"one response wanted, there were {statuses}"
        return self.responses[0]


@dataclass(frozen=True)
class Site:
    """A running server, how requests are cut, and how many seconds an exchange may take."""

    server: Listens
    delivery: Delivery = whole
    timeout: float = 5.0

    def raw(self) -> Client:
        """A new connection, for a check that cuts the bytes itself."""
        return self.server.raw(self.timeout)

    def exchange(self, request: bytes, methods: Sequence[str] = ("GET",), then: bytes = AFTER) -> Outcome:
        """Delivers `request`, reads its responses, delivers `then`, and reads until the server closes.

        `methods` are those of the requests in it. Nothing is pipelined that a check does not put there itself.
        """
        with self.raw() as client:
            client.send_pieces(self.delivery(request))
            responses = []
            for method in methods:
                if not client.is_closed():
                    responses.append(client.read_response(method))
            client.send_pieces(self.delivery(then))
            # A connection that is closed already meets these bytes with a reset; what came before has been read.
            with contextlib.suppress(ResetByServer):
                responses += client.read_to_end()
        went_on = bool(responses) and is_after(responses[-1])
        if went_on:
            responses.pop()
        return Outcome(responses, went_on, [one for response in responses for one in response.interim])

    def refuses(self, request: bytes, *statuses: int) -> Response:
        """The request gets one self-delimiting error with one of the statuses and `Connection: close`, then the end."""
        outcome = self.exchange(request)
        response = outcome.only()
        assert response.status in statuses, (
            f"{response.status} {response.reason} instead of {statuses}: {response.body!r}"
        )
        assert not outcome.went_on, "the server read on after a request it refused"
        assert response.closes, f"no Connection: close in {response.fields}"
        assert response.framing in ("length", "chunked"), "the end of the body is the end of the connection"
        return response

    def answers(
        self, request: bytes, *, kept: bool | None = True, methods: Sequence[str] = ("GET",), **seen: Any
    ) -> Response:
        """The request gets one 200 of ECHO, which saw what `seen` says; `environ` may name a part of the environ only.

        `kept` is whether the server then goes on with the connection, for which AFTER is sent, or closes it by itself; None when
        it may do either.
        """
        outcome = self.exchange(request, methods, b"" if kept is False else AFTER)
        response = outcome.only()
        assert response.status == 200, f"{response.status} {response.reason}: {response.body!r}"
        if kept is not None:
            assert outcome.went_on or not kept, "the connection was closed"
            # HTTP/1.0 closes unless the server says that it does not.
            assert response.closes != kept or b" HTTP/1.0\r\n" in request, (
                f"the Connection field does not say so: {response.fields}"
            )
        if seen:
            compare(response.json(), seen)
        return response


def is_after(response: Response) -> bool:
    """Whether this is a response to AFTER, of any application that names the path."""
    return b"/after" in response.body


def compare(got: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Every wanted entry is there; a None among the wanted means that there must be no such entry."""
    for key, value in wanted.items():
        if isinstance(value, dict):
            compare(got[key], value)
        else:
            assert got.get(key) == value, f"{key} is {got.get(key)!r} instead of {value!r}"
