"""Checks of what the server sends, whatever the application does: RFC 9110 sections 6, 9 and 15, RFC 9112 section 6."""

import statistics
import time
from email.utils import parsedate_to_datetime

from harness.request import chunked, get, head, post
from harness.response import Aborted
from harness.rule import rule
from harness.site import Site

HOP_BY_HOP = {
    b"Connection:X-Hop": "connection", b"Keep-Alive:timeout=9": "keep-alive", b"Transfer-Encoding:chunked": "transfer-encoding",
    b"Upgrade:h2c": "upgrade", b"Trailer:X-T": "trailer", b"TE:trailers": "te",
}  # fmt: skip


@rule(21, "a response to HEAD has no body, and the length it would have", app="responses:app", inputs=[
    (b"status/200", "13"), (b"length/13", "13"), (b"length_in_pieces/13", "13"), (b"length_written/13", "13"), (b"length/99", "99"),
])  # fmt: skip
def head_without_body(site: Site, example: tuple[bytes, str]) -> None:
    target, length = example
    outcome = site.exchange(head(b"HEAD /" + target + b" HTTP/1.1", b"Host: test"), ["HEAD"])
    assert outcome.only().get("content-length") == length
    assert outcome.went_on


@rule(
    21,
    "a response to HEAD has no body when its length is unknown",
    app="responses:app",
    inputs=[b"generator", b"unsized/200"],
)
def head_without_length(site: Site, target: bytes) -> None:
    outcome = site.exchange(head(b"HEAD /" + target + b" HTTP/1.1", b"Host: test"), ["HEAD"])
    assert outcome.only().status == 200 and outcome.went_on


@rule(
    21,
    "204 has neither body nor length, whatever the application yields",
    app="responses:app",
    inputs=[b"status", b"unsized"],
)
def no_content(site: Site, name: bytes) -> None:
    outcome = site.exchange(get(target=b"/" + name + b"/204"))
    assert outcome.only().status == 204 and outcome.went_on


@rule(
    21,
    "304 has no body, whatever the application yields",
    app="responses:app",
    inputs=[(b"status", "13"), (b"unsized", None)],
)
def not_modified(site: Site, example: tuple[bytes, str | None]) -> None:
    name, length = example
    outcome = site.exchange(get(target=b"/" + name + b"/304"))
    response = outcome.only()
    assert response.status == 304 and outcome.went_on
    assert response.get("content-length") == length


@rule(22, "a body shorter than its length aborts the connection", app="responses:app", inputs=[
    b"length/20", b"length_in_pieces/20", b"length_written/20",
])  # fmt: skip
def short_body(site: Site, target: bytes) -> None:
    with site.raw() as client:
        client.send_pieces(site.delivery(get(target=b"/" + target)))
        try:
            response = client.read_response()
        except Aborted:
            return
    assert response.status == 500, f"the short body was taken for whole: {response}"


@rule(22, "what exceeds the length never reaches the wire", app="responses:app", inputs=[
    b"length/6", b"length_in_pieces/6", b"length_written/6",
])  # fmt: skip
def long_body(site: Site, target: bytes) -> None:
    response = site.exchange(get(target=b"/" + target)).only()
    assert response.status == 500 or response.body == b"one tw"


@rule(
    22,
    "a length of 0 sends no body",
    app="responses:app",
    inputs=[b"length/0", b"length_in_pieces/0", b"length_written/0"],
)
def empty_body(site: Site, target: bytes) -> None:
    response = site.exchange(get(target=b"/" + target)).only()
    assert response.status == 500 or response.body == b""


@rule(23, "never both Content-Length and Transfer-Encoding", app="responses:app")
def one_framing(site: Site) -> None:
    assert site.exchange(get(target=b"/both_framings")).only().body == b"one two three"


@rule(23, "hop-by-hop fields of the application are dropped", app="responses:app", inputs=list(HOP_BY_HOP))
def hop_by_hop(site: Site, line: bytes) -> None:
    outcome = site.exchange(get(target=b"/field/" + line))
    response = outcome.only()
    assert response.status == 200 and outcome.went_on
    assert line.partition(b":")[2].decode() not in response.all(HOP_BY_HOP[line])


@rule(23, "CR, LF or NUL in a field of the application is a 500", app="responses:app", inputs=[
    b"X-A:a%0Db", b"X-A:a%0Ab", b"X-A:a%0D%0AX-B:c", b"X-A:a%00b", b"X%0D%0AY:a", b"X%0AY:a", b"X%00Y:a", b"X-A:a%0D%0A%0D%0Ahello",
])  # fmt: skip
def injected_field(site: Site, line: bytes) -> None:
    response = site.exchange(get(target=b"/field/" + line)).only()
    assert response.status == 500 and not response.all("x-b")


@rule(
    24,
    "an application that fails before the head is a plain 500",
    app="responses:app",
    inputs=[b"/fail_before", b"/fail_unsent"],
)
def failure_before_head(site: Site, target: bytes) -> None:
    response = site.exchange(get(target=target)).only()
    assert response.status == 500
    assert b"secret-detail" not in response.body and b"Traceback" not in response.body


@rule(
    24,
    "an application that fails after the head never looks complete",
    app="responses:app",
    inputs=[b"", b"13", b"9999"],
)
def failure_after_head(site: Site, length: bytes) -> None:
    with site.raw() as client:
        client.send_pieces(site.delivery(get(target=b"/fail_after/" + length)))
        try:
            response = client.read_response()
        except Aborted:
            return
    assert response.status == 500, f"the body was taken for whole: {response}"


@rule(25, "every response carries Date, refusals too", app="responses:app", inputs=[
    get(target=b"/length/13"), get(target=b"/generator"), get(target=b"/status/204"), get(target=b"/status/304"), get(target=b"/fail_before"),
    get(host=b"a/b"), get(host=None), head(b"GET / HTTP/2.0"), get(target=b"/" + b"a" * 9000), get(b"X: " + b"a" * 9000), chunked(b"x\r\n"),
    post(b"hello", b"Expect: foo"), head(b"POST / HTTP/1.1", b"Host: test", b"Content-Length: 104857601"), b"junk\r\n\r\n",
])  # fmt: skip
def date(site: Site, request: bytes) -> None:
    response = site.exchange(request).only()
    sent = parsedate_to_datetime(response.get("date") or "")
    assert abs(sent.timestamp() - time.time()) < 5
    assert (response.get("date") or "").endswith(" GMT")


@rule(25, "a small response is one write", app="hello:app", cut=["whole"])
def one_write(site: Site) -> None:
    for _ in range(20):
        with site.raw() as client:
            client.send(get())
            assert client.receive().endswith(b"Hello, world!\n")


@rule(25, "kept-alive requests meet no delayed acknowledgement", app="hello:app", cut=["whole"])
def no_stall(site: Site) -> None:
    with site.raw() as client:
        seconds = []
        for _ in range(30):
            started = time.monotonic()
            assert client.ask(get()).body == b"Hello, world!\n"
            seconds.append(time.monotonic() - started)
    assert statistics.median(seconds) < 0.02
