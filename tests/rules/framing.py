"""Checks of message framing and of the connection around it: RFC 9112 sections 6, 7 and 9, RFC 9110 section 10.1.1."""

import time

from harness.request import chunked, chunks, get, head, post
from harness.rule import rule
from harness.site import AFTER, Site, is_after

UPLOAD = 64 * 1024


@rule(11, "a Content-Length that is not digits alone is refused", inputs=[
    b"+5", b"-5", b"5_0", b"5 0", b"0x5", b"5.0", b"1e1", b"", b"five", b"\xd9\xa5", b"\xef\xbc\x95", b"5;", b'"5"', b"5,", b",5",
])  # fmt: skip
def malformed_length(site: Site, value: bytes) -> None:
    site.refuses(head(b"POST / HTTP/1.1", b"Host: test", b"Content-Length: " + value) + b"hello", 400)


@rule(
    11, "a Content-Length too large for any counter is refused", inputs=[b"1" * 20, b"9" * 30, b"18446744073709551621"]
)
def overflowing_length(site: Site, value: bytes) -> None:
    site.refuses(head(b"POST / HTTP/1.1", b"Host: test", b"Content-Length: " + value) + b"hello", 400, 413)


@rule(11, "two lengths that differ are refused", inputs=[
    [b"Content-Length: 5", b"Content-Length: 6"], [b"Content-Length: 5, 6"], [b"Content-Length: 5", b"content-length: 05, 7"],
])  # fmt: skip
def differing_lengths(site: Site, lines: list[bytes]) -> None:
    site.refuses(head(b"POST / HTTP/1.1", b"Host: test", *lines) + b"hello!", 400)


@rule(12, "Transfer-Encoding together with Content-Length is refused", inputs=[
    [b"Transfer-Encoding: chunked", b"Content-Length: 5"], [b"Content-Length: 5", b"Transfer-Encoding: chunked"],
    [b"Content-Length: 0", b"transfer-encoding: Chunked"], [b"Content-Length: 5", b"Transfer-Encoding: identity"],
])  # fmt: skip
def both_framings(site: Site, lines: list[bytes]) -> None:
    site.refuses(head(b"POST / HTTP/1.1", b"Host: test", *lines) + chunks(b"hello"), 400, 501)


@rule(12, "chunked twice, not last, or with unknown codings is refused", inputs=[
    [b"chunked, chunked"], [b"chunked", b"chunked"], [b"chunked, gzip"], [b"gzip, chunked"], [b"identity"], [b"identity, chunked"],
    [b"xchunked"], [b"chunkedx"], [b"x"], [b""], [b'"chunked"'], [b"chunked;q=1"], [b"chunked x"], [b"gzip", b"chunked"],
])  # fmt: skip
def other_codings(site: Site, values: list[bytes]) -> None:
    lines = [b"Transfer-Encoding: " + value for value in values]
    site.refuses(head(b"POST / HTTP/1.1", b"Host: test", *lines) + chunks(b"hello"), 400, 501)


@rule(12, "Transfer-Encoding in HTTP/1.0 is refused")
def chunked_in_old_version(site: Site) -> None:
    site.refuses(head(b"POST / HTTP/1.0", b"Host: test", b"Transfer-Encoding: chunked") + chunks(b"hello"), 400)


@rule(12, "the name of the coding may have any case", inputs=[b"chunked", b"CHUNKED", b"Chunked"])
def coding_case(site: Site, name: bytes) -> None:
    request = head(b"POST / HTTP/1.1", b"Host: test", b"Transfer-Encoding: " + name) + chunks(b"hello")
    site.answers(request, body="hello")


@rule(13, "a chunk size is 1 to 16 hexadecimal digits", inputs=["%x", "%X", "0%x", "%016x"])
def wellformed_size(site: Site, size: str) -> None:
    site.answers(chunked(chunks(b"hello world ", b"again", size=size)), body="hello world again")


@rule(13, "a chunk size of anything else is refused", inputs=[
    b"+5", b"-5", b"0x5", b"5_0", b" 5", b"\t5", b"", b"g", b"5 5", b"5h", b"0" * 16 + b"5", b"\xd9\xa5", b"5\x00", b"5,", b";a",
])  # fmt: skip
def malformed_size(site: Site, size: bytes) -> None:
    site.refuses(chunked(size + b"\r\nhello\r\n0\r\n\r\n"), 400)


@rule(13, "chunk extensions are skipped", inputs=[
    b";a", b";a=b", b" ;a=b", b"; a = b", b';a="b c"', b';a="\\""', b";a;b=c;d", b';a=";"', b"\t;a",
])  # fmt: skip
def wellformed_extension(site: Site, extension: bytes) -> None:
    site.answers(chunked(b"5" + extension + b"\r\nhello\r\n0" + extension + b"\r\n\r\n"), body="hello")


@rule(13, "a malformed chunk extension is refused", inputs=[
    b"z", b";a b", b';a="b', b";a=b c", b";a\x00", b";a\rb", b";=b", b" a", b";a=b\x7f", b";(a)",
])  # fmt: skip
def malformed_extension(site: Site, extension: bytes) -> None:
    site.refuses(chunked(b"5" + extension + b"\r\nhello\r\n0\r\n\r\n"), 400)


@rule(13, "chunk data ends with CRLF where its size says", inputs=[
    b"5\r\nhelloX\r\n0\r\n\r\n", b"5\r\nhello0\r\n\r\n", b"5\r\nhello\r0\r\n\r\n", b"5\r\nhell\r\n0\r\n\r\n", b"5\r\nhello!\r\n0\r\n\r\n",
])  # fmt: skip
def data_without_end(site: Site, data: bytes) -> None:
    site.refuses(chunked(data), 400)


@rule(13, "a bare LF is never the end of a line of a chunked body", inputs=[
    b"5\nhello\r\n0\r\n\r\n", b"5\r\nhello\n0\r\n\r\n", b"5\r\nhello\r\n0\n\r\n", b"5;a\nhello\r\n0\r\n\r\n", b"5\r\nhello\r\n0\r\n\n",
])  # fmt: skip
def bare_line_feed(site: Site, data: bytes) -> None:
    site.refuses(chunked(data), 400)


@rule(7, "chunk extensions over 4 KiB are refused")
def long_extension(site: Site) -> None:
    site.refuses(chunked(b"5;a=" + b"b" * 4200 + b"\r\nhello\r\n0\r\n\r\n"), 400, 413, 431)


@rule(7, "trailers over 8 KiB are refused")
def long_trailers(site: Site) -> None:
    trailers = b"".join(b"X-%d: %s\r\n" % (n, b"a" * 1000) for n in range(9))
    site.refuses(chunked(b"5\r\nhello\r\n0\r\n" + trailers + b"\r\n"), 400, 413, 431)


@rule(14, "trailers are read and never become headers", inputs=[b"X-T: v", b"x-t:v\r\nX-U: w", b"X-T: \xe9"])
def trailers(site: Site, lines: bytes) -> None:
    request = chunked(b"5\r\nhello\r\n0\r\n" + lines + b"\r\n\r\n", b"Trailer: X-T")
    site.answers(request, body="hello", environ={"HTTP_X_T": None, "HTTP_X_U": None})


@rule(14, "a malformed trailer line is refused", inputs=[
    b"X-T", b"X-T : v", b" X-T: v", b": v", b"X-T: a\x00b", b"X-T: a\rb", b"X T: v", b"X-T: v\r\n folded", b"GET /smuggled HTTP/1.1",
])  # fmt: skip
def malformed_trailer(site: Site, lines: bytes) -> None:
    site.refuses(chunked(b"5\r\nhello\r\n0\r\n" + lines + b"\r\n\r\n"), 400)


@rule(14, "a trailer that would change the framing is refused", inputs=[
    b"Content-Length: 5", b"Transfer-Encoding: chunked", b"content-length: 0", b"Host: other",
])  # fmt: skip
def framing_trailer(site: Site, line: bytes) -> None:
    site.refuses(chunked(b"5\r\nhello\r\n0\r\n" + line + b"\r\n\r\n"), 400)


@rule(15, "a body that FIN cuts is refused, never passed on as if it were whole", inputs=[
    post(b"hello")[:-1], post(b"hello")[:-5], chunked(b"5\r\nhel"), chunked(b"5\r\nhello\r\n"), chunked(b"5\r\nhello\r\n0\r\n"), chunked(b"5"),
])  # fmt: skip
def cut_body(site: Site, request: bytes) -> None:
    with site.raw() as client:
        client.send_pieces(site.delivery(request))
        client.half_close()
        responses = client.read_to_end()
    assert [response.status for response in responses] == [400]
    assert responses[0].closes


@rule(16, "a client that has sent FIN behind its request still gets the reply", inputs=[
    get(target=b"/one"), post(b"hello", target=b"/one"), chunked(chunks(b"hello"), target=b"/one"),
])  # fmt: skip
def half_closed(site: Site, request: bytes) -> None:
    with site.raw() as client:
        client.send_pieces(site.delivery(request))
        client.half_close()
        responses = client.read_to_end()
    assert [response.json()["path"] for response in responses] == ["/one"]


@rule(16, "a reply that takes its time reaches a client that has sent FIN", app="slow:app", cut=["whole"])
def half_closed_slow(site: Site) -> None:
    with site.raw() as client:
        client.send(get(target=b"/0.4"))
        client.half_close()
        assert [response.body for response in client.read_to_end()] == [b"slept 0.4\n"]


@rule(17, "pipelined requests are answered in order")
def pipelined(site: Site) -> None:
    requests = [
        (get(target=b"/0"), "GET"),
        (post(b"hello", target=b"/1"), "POST"),
        (head(b"HEAD /2 HTTP/1.1", b"Host: test"), "HEAD"),
        (chunked(chunks(b"a", b"bc"), target=b"/3"), "POST"),
        (b"\r\n" + get(target=b"/4"), "GET"),
        (post(b"", target=b"/5"), "POST"),
    ]
    outcome = site.exchange(b"".join(request for request, _ in requests), [method for _, method in requests])
    assert outcome.went_on
    paths = [response.json()["path"] if response.body else "/2" for response in outcome.responses]
    assert paths == ["/0", "/1", "/2", "/3", "/4", "/5"]


@rule(
    17,
    "what follows a request that asked to close gets nothing",
    inputs=[get(target=b"/smuggled"), b"junk\r\n\r\n", b"\x00" * 1000],
)
def after_close(site: Site, junk: bytes) -> None:
    site.answers(get(b"Connection: close") + junk + AFTER, kept=False, path="/")


@rule(18, "an application that reads the body makes the server send 100 first")
def continue_when_read(site: Site) -> None:
    with site.raw() as client:
        request = head(b"POST / HTTP/1.1", b"Host: test", b"Content-Length: 5", b"Expect: 100-continue")
        client.send_pieces(site.delivery(request))
        assert client.wait_for(b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
        client.send_pieces(site.delivery(b"hello" + AFTER))
        response, after = client.read_to_end()
    assert [interim.status for interim in response.interim] == [100]
    assert response.json()["body"] == "hello" and is_after(after)


@rule(18, "an application that answers without reading gets no 100 sent", app="unread:app")
def no_continue_when_not_read(site: Site) -> None:
    with site.raw() as client:
        request = head(b"POST / HTTP/1.1", b"Host: test", b"Content-Length: 5", b"Expect: 100-continue")
        client.send_pieces(site.delivery(request))
        response = client.read_response()
        assert response.interim == [] and response.body == b"unread /\n"
        client.send_pieces(site.delivery(b"hello" + AFTER))
        assert_only_after(client.read_to_end())


@rule(18, "an expectation nobody knows is 417", inputs=[b"foo", b"100-continue, foo", b"200-ok"])
def unknown_expectation(site: Site, value: bytes) -> None:
    site.refuses(post(b"hello", b"Expect: " + value), 417)


@rule(19, "a refusal reaches a client that is still uploading", cut=["whole"])
def early_refusal(site: Site) -> None:
    with site.raw() as client:
        client.send(head(b"POST / HTTP/1.1", b"Host: test", b"Content-Length: 104857601"))
        uploaded = client.send_pieces([b"x" * UPLOAD] * 64)
        assert [response.status for response in client.read_to_end()] == [413]
    assert uploaded, "the server reset the connection under the upload"


@rule(
    19, "an answer given before the body came reaches a client that is still uploading", app="unread:app", cut=["whole"]
)
def early_answer(site: Site) -> None:
    with site.raw() as client:
        length = b"Content-Length: %d" % (64 * UPLOAD)
        client.send(head(b"POST / HTTP/1.1", b"Host: test", length, b"Expect: 100-continue"))
        time.sleep(0.05)
        client.send_pieces([b"x" * UPLOAD] * 64)
        client.send_pieces([AFTER])
        response, *rest = client.read_to_end()
    assert response.body == b"unread /\n"
    assert_only_after(rest)


@rule(20, "a body the application does not read is never taken for a request", app="unread:app", inputs=[
    post(get(target=b"/smuggled")), chunked(chunks(get(target=b"/smuggled"))), post(get(target=b"/smuggled") * 2000),
])  # fmt: skip
def unread_body(site: Site, request: bytes) -> None:
    assert site.exchange(request).only().body == b"unread /\n"


def assert_only_after(responses: list) -> None:
    """What is left on the connection is at most the answer to AFTER."""
    assert len(responses) <= 1 and all(is_after(response) for response in responses), responses
