"""The wiki, used as its readers and editors use it."""

from __future__ import annotations

import concurrent.futures
import http.client
import re
import subprocess
from html import unescape
from pathlib import Path

import httpx
import pytest

WIKI = Path(__file__).parents[2] / "examples" / "wiki"

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 300
JPEG = b"\xff\xd8\xff\xe0" + bytes(100)
GIF = b"GIF89a" + bytes(100)
WEBP = b"RIFF\x24\x00\x00\x00WEBPVP8 " + bytes(100)


@pytest.fixture(scope="module")
def server(serve_module, tmp_path_factory):
    """A wiki that the tests share: each writes pages and images under names of its own."""
    database = tmp_path_factory.mktemp("wiki") / "wiki.db"
    return serve_module("wiki:application", app_dir=WIKI, env={"WIKI_DATABASE": str(database)})


@pytest.fixture
def client(server):
    """A client of the wiki that the tests share."""
    with httpx.Client(base_url=server.url) as client:
        yield client


@pytest.fixture
def folder(tmp_path):
    """Where the database of `new_client` is."""
    return tmp_path / "new"


@pytest.fixture
def new_client(serve, folder):
    """A client of a wiki that was just made."""
    server = serve("wiki:application", app_dir=WIKI, env={"WIKI_DATABASE": str(folder / "wiki.db")})
    with httpx.Client(base_url=server.url) as client:
        yield client


def fields(response: httpx.Response) -> dict[str, str]:
    """The hidden fields of a page's form."""
    return {
        name: unescape(value)
        for name, value in re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', response.text)
    }


def edit(client: httpx.Client, title: str, text: str, **changed: str) -> httpx.Response:
    """Open the form of a page, and send it with a text."""
    form = fields(client.get(f"/edit/{title}"))
    return client.post(f"/edit/{title}", data={**form, "text": text, "comment": "", **changed})


def upload(client: httpx.Client, filename: str, content: bytes) -> httpx.Response:
    """Open the form for images, and send it with a file."""
    token = fields(client.get("/images"))["token"]
    # Given as one sequence, so that the token comes first, as it does from the form of the page.
    return client.post("/images", files=[("token", (None, token)), ("file", (filename, content))])


def test_the_database_and_its_first_page_are_made_at_the_first_start(new_client, folder):
    response = new_client.get("/", follow_redirects=True)
    assert response.status_code == 200
    assert response.url.path == "/wiki/Home"
    assert "<h2>Markup</h2>" in response.text
    assert (folder / "wiki.db").stat().st_size > 0


def test_pages_survive_a_restart(serve, tmp_path):
    environment = {"WIKI_DATABASE": str(tmp_path / "wiki.db")}
    server = serve("wiki:application", app_dir=WIKI, env=environment)
    with httpx.Client(base_url=server.url) as client:
        assert edit(client, "Kept", "across restarts").status_code == 303
    server.stop()
    server = serve("wiki:application", app_dir=WIKI, env=environment)
    assert "across restarts" in httpx.get(f"{server.url}/wiki/Kept").text


def test_a_page_is_written_linked_and_read(client):
    missing = client.get("/wiki/Café au lait")
    assert missing.status_code == 404
    response = edit(client, "Café au lait", "Hot\r\nmilk, see [[Home]] and [[Nowhere|that]].")
    assert response.status_code == 303
    assert response.headers["location"] == "/wiki/Caf%C3%A9%20au%20lait"
    page = client.get(response.headers["location"])
    assert page.status_code == 200
    assert "<p>Hot\nmilk, see " in page.text
    assert '<a href="/wiki/Home">Home</a>' in page.text
    assert '<a class="missing" href="/edit/Nowhere">that</a>' in page.text
    assert '<a href="/wiki/Caf%C3%A9%20au%20lait">Café au lait</a>' in client.get("/pages").text


@pytest.mark.parametrize(
    "repeated", ["[", "[[a|", "[[a", "![a](", "[a](https://", "`", "*", "**a", "***", "- ", "```\n"]
)
def test_no_markup_takes_long(client, repeated):
    edit(client, "Long", repeated * (199_000 // len(repeated)))
    assert client.get("/wiki/Long", timeout=5).status_code == 200


def test_it_can_be_mounted_below_a_path(serve, tmp_path):
    module = f"""
import sys
sys.path.insert(0, {str(WIKI)!r})
from wiki import application

MOUNT = "/déjà".encode().decode("latin-1")

def mounted(environ, start_response):
    environ["SCRIPT_NAME"] = MOUNT
    environ["PATH_INFO"] = environ["PATH_INFO"].removeprefix(MOUNT)
    return application(environ, start_response)
"""
    (tmp_path / "mounted_wiki.py").write_text(module, encoding="utf-8")
    environment = {"WIKI_DATABASE": str(tmp_path / "wiki.db")}
    server = serve("mounted_wiki:mounted", app_dir=tmp_path, env=environment)
    with httpx.Client(base_url=f"{server.url}/déjà") as client:
        assert client.get("/").headers["location"] == "/d%C3%A9j%C3%A0/wiki/Home"
        assert edit(client, "Below", "See [[Home]].").headers["location"] == "/d%C3%A9j%C3%A0/wiki/Below"
        assert '<a href="/d%C3%A9j%C3%A0/wiki/Home">Home</a>' in client.get("/wiki/Below").text


def test_nothing_that_is_written_becomes_markup_of_the_page(client):
    hostile = "<script>alert(1)</script> \" onload=' &amp; [x](javascript:alert(1)) [[<b>]] **<i>** `<u>`\n```\n</pre><s>\n```"
    edit(client, "Hostile", hostile, comment="<script>comment")
    for address in ("/wiki/Hostile", "/edit/Hostile", "/history/Hostile", "/diff/Hostile", "/search?q=<script>alert"):
        page = client.get(address).text
        assert "<script" not in page
        assert "javascript:alert(1)&quot;" not in page
        assert not re.search(r"<(b|i|u|s)>", page)
    form = client.get("/edit/Hostile").text
    text = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", form, re.DOTALL)
    assert unescape(text[1]) == hostile + "\n"
    assert 'href="javascript' not in client.get("/wiki/Hostile").text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("# One\n## Two", "<h2>One</h2>\n<h3>Two</h3>"),
        ("- a\n- b\n\n1. c", "<ul><li>a</li><li>b</li></ul>\n\n<ol><li>c</li></ol>"),
        ("> said\n> twice", "<blockquote>said<br>twice</blockquote>"),
        ("---", "<hr>"),
        ("```\n**kept** <\n```", "<pre><code>**kept** &lt;</code></pre>"),
        ("**bold `x`** *it* ** * 2*3*4", "<p><strong>bold <code>x</code></strong> <em>it</em> ** * 2<em>3</em>4</p>"),
        ("[P](https://a.b/?c=1&d)", '<p><a class="outside" rel="nofollow" href="https://a.b/?c=1&amp;d">P</a></p>'),
        ('![A "cat"](cat.png)', '<p><img src="/images/cat.png" alt="A &quot;cat&quot;"></p>'),
        ("{title} %s", "<p>{title} %s</p>"),
    ],
)
def test_markup_is_shown_as_html(client, written, shown):
    edit(client, "Markup", written)
    assert shown in client.get("/wiki/Markup").text


def test_history_shows_differences_and_reverts(client):
    edit(client, "Story", "one\ntwo\n")
    edit(client, "Story", "one\nthree\n", comment="Count on")
    history = client.get("/history/Story")
    assert "Count on" in history.text
    diff = client.get("/diff/Story").text
    assert "<del>-two</del>" in diff
    assert "<ins>+three</ins>" in diff
    reverted = client.post("/revert/Story", data=fields(history))
    assert reverted.status_code == 303
    assert "two" in client.get("/wiki/Story").text
    assert "Back to revision" in client.get("/history/Story").text
    assert client.get("/history/Story").text.count("<time") == 3


def test_any_two_revisions_are_compared(client):
    numbers = []
    for text in ("one", "two", "three"):
        edit(client, "Three", text)
        numbers.append(fields(client.get("/edit/Three"))["base"])
    diff = client.get("/diff/Three", params={"from": numbers[0], "to": numbers[2]}).text
    assert "<del>-one</del>" in diff
    assert "<ins>+three</ins>" in diff
    assert "two" not in diff
    assert "<ins>+one</ins>" in client.get("/diff/Three", params={"to": numbers[0]}).text


def test_a_long_history_is_shown_in_parts(client):
    edit(client, "Busy", "0")
    for number in range(1, 60):
        form = fields(client.get("/edit/Busy"))
        client.post("/edit/Busy", data={**form, "text": str(number), "comment": f"edit {number}."})
    newer = client.get("/history/Busy").text
    assert newer.count("<time") == 50
    older = client.get(unescape(re.search(r'<a href="([^"]*)">Older</a>', newer)[1])).text
    assert older.count("<time") == 10
    shown = [int(number) for number in re.findall(r"edit (\d+)\.", newer + older)]
    assert shown == list(range(59, 0, -1))


def test_texts_of_any_number_of_lines_are_compared_in_time(client):
    lines = [str(number) for number in range(1900)]
    edit(client, "Lines", "\n".join(lines))
    edit(client, "Lines", "\n".join(reversed(lines)))
    assert client.get("/diff/Lines").text.count("<ins>") > 1000
    edit(client, "Lines", "\n" * 100_000)
    edit(client, "Lines", "\n" * 100_000 + "x")
    assert "too many lines" in client.get("/diff/Lines").text


def test_an_older_revision_can_be_read(client):
    edit(client, "Older", "old text")
    number = fields(client.get("/edit/Older"))["base"]
    edit(client, "Older", "new text")
    page = client.get("/wiki/Older", params={"revision": number})
    assert "old text" in page.text
    assert "new text" not in page.text
    assert client.get("/wiki/Home", params={"revision": number}).status_code == 404
    assert client.get("/wiki/Older", params={"revision": "1x"}).status_code == 400


def test_the_later_of_two_editors_is_shown_what_the_other_did(client):
    edit(client, "Shared", "first")
    late = fields(client.get("/edit/Shared"))
    edit(client, "Shared", "second")
    refused = client.post("/edit/Shared", data={**late, "text": "third"})
    assert refused.status_code == 409
    assert "<del>-second</del>" in refused.text
    assert ">\nthird\n</textarea>" in refused.text
    assert "second" in client.get("/wiki/Shared").text
    merged = client.post("/edit/Shared", data={**fields(refused), "text": "second and third"})
    assert merged.status_code == 303
    assert "second and third" in client.get("/wiki/Shared").text


def test_of_many_editors_at_once_exactly_one_is_taken(client, server):
    edit(client, "Race", "start")
    form = fields(client.get("/edit/Race"))

    def save(number: int) -> int:
        data = {**form, "text": f"by {number}"}
        return httpx.post(f"{server.url}/edit/Race", data=data, cookies=client.cookies).status_code

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(save, range(24))) == [303] + [409] * 23
    assert client.get("/history/Race").text.count("<time") == 2


def test_search_finds_words_and_their_beginnings(client):
    edit(client, "Tea", "Assam, Darjeeling & <Ceylon>")
    edit(client, "Coffee", "Not tea at all")
    found = client.get("/search", params={"q": "ceyl"}).text
    assert '<a href="/wiki/Tea">' in found
    assert "&lt;<mark>Ceylon</mark>&gt;" in found
    assert "/wiki/Coffee" not in found
    both = client.get("/search", params={"q": "tea"}).text
    assert both.index("/wiki/Tea") < both.index("/wiki/Coffee")
    edit(client, "Tea", "Oolong")
    assert "0 found" in client.get("/search", params={"q": "ceylon"}).text


@pytest.mark.parametrize("query", ["", '"', "a OR", "NEAR(", "_", "* ^ -", "title:x", "a" * 3000, "\x00"])
def test_no_query_breaks_the_search(client, query):
    assert client.get("/search", params={"q": query}).status_code == 200


def test_a_page_is_sent_again_only_when_it_changed(client):
    first = client.get("/wiki/Home")
    again = client.get("/wiki/Home", headers={"If-None-Match": f'"other", W/{first.headers["etag"]}'})
    assert again.status_code == 304
    assert again.content == b""
    assert again.headers["etag"] == first.headers["etag"]
    edit(client, "Ideas", "A link of the page leads somewhere now.")
    assert client.get("/wiki/Home", headers={"If-None-Match": first.headers["etag"]}).status_code == 200


@pytest.mark.parametrize("path", ["/wiki/Home", "/wiki/Nowhere", "/pages", "/nothing", "/images"])
def test_head_has_the_fields_of_get_and_no_content(client, path):
    client.get(path)  # sets the cookie that forms need, so that both answers can be alike
    got, head = client.get(path), client.head(path)
    assert head.status_code == got.status_code
    assert head.content == b""
    assert int(head.headers["content-length"]) == len(got.content)
    varying = {"date", "etag"}
    assert {k: v for k, v in head.headers.items() if k not in varying} == {
        k: v for k, v in got.headers.items() if k not in varying
    }


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("POST", "/wiki/Home", "GET, HEAD"),
        ("DELETE", "/edit/Home", "GET, HEAD, POST"),
        ("GET", "/revert/Home", "POST"),
        ("PUT", "/images/a.png", "GET, HEAD"),
        ("POST", "/", "GET, HEAD"),
    ],
)
def test_other_methods_are_refused_with_those_allowed(client, method, path, allow):
    response = client.request(method, path)
    assert response.status_code == 405
    assert response.headers["allow"] == allow


@pytest.mark.parametrize(
    "path", ["/nothing", "/wiki", "/wiki/", "/wiki/a/b", "/edit/%20x", "/edit/a%0Ab", "/images/no.png", "/edit/%5B%5B"]
)
def test_what_is_not_there_is_not_found(client, path):
    assert client.get(path).status_code == 404


def test_a_path_that_is_not_utf8_is_refused(server):
    connection = http.client.HTTPConnection(server.host, server.port)
    connection.request("GET", "/wiki/%ff")
    assert connection.getresponse().status == 400
    connection.close()


@pytest.mark.parametrize("change", [{"token": ""}, {"token": "0" * 64}, {"token": "é"}])
def test_a_form_without_its_token_changes_nothing(client, change):
    assert edit(client, "Home", "stolen", **change).status_code == 403
    assert "stolen" not in client.get("/wiki/Home").text


def test_a_token_is_worth_nothing_with_another_cookie(client, server):
    form = fields(client.get("/edit/Home"))
    with httpx.Client(base_url=server.url) as other:
        other.get("/edit/Home")
        assert other.post("/edit/Home", data={**form, "text": "stolen"}).status_code == 403
    assert httpx.post(f"{server.url}/edit/Home", data={**form, "text": "stolen"}).status_code == 403


def test_a_text_has_a_limit(client):
    assert edit(client, "Limit", "x" * 199_999).status_code == 303
    assert edit(client, "Limit", "é" * 100_000).status_code == 413
    assert edit(client, "Limit", "é" * 1_000_000).status_code == 413


@pytest.mark.parametrize(
    ("content", "kind", "extension"),
    [(PNG, "image/png", "png"), (JPEG, "image/jpeg", "jpg"), (GIF, "image/gif", "gif"), (WEBP, "image/webp", "webp")],
)
def test_an_image_is_uploaded_and_served_as_what_it_is(client, content, kind, extension):
    assert upload(client, f"C:\\pictures\\My Cat.{extension}", content).status_code == 303
    address = f"/images/my-cat.{extension}"
    assert address in client.get("/images").text
    image = client.get(address)
    assert image.content == content
    assert image.headers["content-type"] == kind
    assert image.headers["x-content-type-options"] == "nosniff"
    assert client.head(address).headers["content-length"] == str(len(content))
    unchanged = client.get(address, headers={"If-None-Match": image.headers["etag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")


def test_curl_uploads_and_downloads_the_same_bytes(client, server, tmp_path):
    source, target = tmp_path / "big.png", tmp_path / "downloaded"
    source.write_bytes(PNG[:8] + bytes(i * 7 % 256 for i in range(3_000_000)))
    token = fields(client.get("/images"))["token"]
    cookie = f"wiki_session={client.cookies['wiki_session']}"
    form = ["-F", f"token={token}", "-F", f"file=@{source}"]
    curl = ["curl", "--silent", "--show-error", "--fail", "--max-time", "20"]
    subprocess.run([*curl, "--cookie", cookie, *form, f"{server.url}/images"], check=True)
    subprocess.run([*curl, "--output", str(target), f"{server.url}/images/big.png"], check=True)
    assert target.read_bytes() == source.read_bytes()


def test_an_upload_in_chunks_is_taken(client):
    token = fields(client.get("/images"))["token"]
    form = multipart(("token", None, token.encode()), ("file", "chunked.gif", GIF))
    pieces = (form[i : i + 50] for i in range(0, len(form), 50))
    response = client.post("/images", content=pieces, headers={"Content-Type": "multipart/form-data; boundary=b"})
    assert response.status_code == 303
    assert client.get("/images/chunked.gif").content == GIF


def test_a_boundary_is_seen_wherever_the_reads_cut_it(client):
    token = ("token", None, fields(client.get("/images"))["token"].encode())
    before = multipart(token, ("file", "0.gif", b"")).index(b"\r\n--b--")
    for cut in range(8):
        content = GIF[:6].ljust(64 * 1024 - before - cut, b"-")
        form = multipart(token, ("file", f"{cut}.gif", content))
        response = client.post("/images", content=form, headers={"Content-Type": "multipart/form-data; boundary=b"})
        assert response.status_code == 303
        assert client.get(f"/images/{cut}.gif").content == content


@pytest.mark.parametrize(
    "content", [b"", b"GIF", b"<svg onload='alert(1)'>", b"<html>", b"\x89PNG\r\n\x1a", b"RIFF1234WAVE"]
)
def test_what_is_no_image_is_not_kept(new_client, folder, content):
    assert upload(new_client, "a.png", content).status_code == 415
    assert "/images/a.png" not in new_client.get("/images").text
    assert list((folder / "wiki.db.images").iterdir()) == []


def test_an_image_has_a_limit(new_client, folder):
    assert upload(new_client, "a.gif", GIF[:6] + bytes(5 * 1024 * 1024 - 6)).status_code == 303
    assert upload(new_client, "b.gif", GIF[:6] + bytes(5 * 1024 * 1024 - 5)).status_code == 415
    assert upload(new_client, "c.gif", GIF[:6] + bytes(6 * 1024 * 1024)).status_code == 413
    assert len(list((folder / "wiki.db.images").iterdir())) == 1


def test_an_image_is_not_replaced_by_another_of_its_name(client):
    assert upload(client, "kept.gif", GIF).status_code == 303
    assert upload(client, "kept.gif", GIF).status_code == 303
    assert upload(client, "kept.gif", GIF + b"x").status_code == 409
    assert client.get("/images/kept.gif").content == GIF


def multipart(*parts: tuple[str, str | None, bytes]) -> bytes:
    """A form with the boundary `b`."""
    encoded = b""
    for name, filename, content in parts:
        disposition = f'form-data; name="{name}"' + (f'; filename="{filename}"' if filename else "")
        encoded += f"--b\r\nContent-Disposition: {disposition}\r\n\r\n".encode() + content + b"\r\n"
    return encoded + b"--b--\r\n"


TOKEN = b'--b\r\nContent-Disposition: form-data; name="token"\r\n\r\n'


@pytest.mark.parametrize(
    ("content_type", "form"),
    [
        ("text/plain", b"--b--"),
        ("multipart/form-data", b"--b--"),
        ("multipart/form-data; boundary=", b"--b--"),
        ("multipart/form-data; boundary=" + "b" * 71, b"--b--"),
        ("multipart/form-data; boundary=b", b""),
        ("multipart/form-data; boundary=b", b"--c--"),
        ("multipart/form-data; boundary=b", b"preamble\r\n--b--\r\n"),
        ("multipart/form-data; boundary=b", b"--b--\r\nepilogue"),
        ("multipart/form-data; boundary=b", b"--b \r\n"),
        ("multipart/form-data; boundary=b", b'--b\nContent-Disposition: form-data; name="a"\n\n\n--b--'),
        ("multipart/form-data; boundary=b", TOKEN + b"x"),
        ("multipart/form-data; boundary=b", TOKEN + b"\xff\r\n--b--"),
        ("multipart/form-data; boundary=b", TOKEN + b"x" * 300 + b"\r\n--b--"),
        ("multipart/form-data; boundary=b", b"--b\r\n\r\n\r\nx\r\n--b--"),
        ("multipart/form-data; boundary=b", b'--b\r\nContent-Disposition: attachment; name="a"\r\n\r\nx\r\n--b--'),
        ("multipart/form-data; boundary=b", b"--b\r\nX: " + b"x" * 9000 + b"\r\n\r\nx\r\n--b--"),
        ("multipart/form-data; boundary=b", multipart(*[("a", None, b"")] * 17)),
        ("multipart/form-data; boundary=b", multipart(("a", None, b""))),
    ],
)
def test_a_broken_form_is_refused(client, content_type, form):
    response = client.post("/images", content=form, headers={"Content-Type": content_type})
    assert response.status_code == 400


def test_a_file_before_the_token_is_refused(client):
    token = fields(client.get("/images"))["token"]
    form = multipart(("file", "early.gif", GIF), ("token", None, token.encode()))
    response = client.post("/images", content=form, headers={"Content-Type": "multipart/form-data; boundary=b"})
    assert response.status_code == 403
    assert client.get("/images/early.gif").status_code == 404


def test_readers_and_writers_at_once_see_whole_pages(client, server):
    def use(number: int) -> set[int]:
        with httpx.Client(base_url=server.url) as mine:
            seen = {edit(mine, f"Page {number}", f"{number} " * 2000).status_code}
            for _ in range(10):
                page = mine.get(f"/wiki/Page {number}")
                assert page.text.count(f"{number} ") >= 2000
                seen.add(page.status_code)
            return seen

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert list(pool.map(use, range(16))) == [{200, 303}] * 16


# What werkzeug's checker says although RFC 9110 has it otherwise: a Location may be a path (section 10.2.2),
# and the answer to HEAD has the length that GET would have and no content (section 8.6).
OUTDATED = {
    "HTTPWarning: Absolute URLs required for location header.",
    "WSGIWarning: Content-Length and the number of bytes sent to the client do not match.",
}


@pytest.mark.parametrize(
    "checker",
    [
        "wsgiref.validate import validator",
        "werkzeug.middleware.lint import LintMiddleware",
        "paste.lint import middleware",
    ],
    ids=["wsgiref", "werkzeug", "paste"],
)
def test_it_keeps_to_the_interface(serve, tmp_path, checker):
    module = f"""
import sys
sys.path.insert(0, {str(WIKI)!r})
from wiki import application
from {checker} as checker

checked = checker(application)
"""
    (tmp_path / "checked_wiki.py").write_text(module, encoding="utf-8")
    environment = {"WIKI_DATABASE": str(tmp_path / "wiki.db")}
    server = serve("checked_wiki:checked", app_dir=tmp_path, env=environment)
    with httpx.Client(base_url=server.url) as client:
        assert edit(client, "Home", "checked").status_code == 303
        assert upload(client, "a.png", PNG).status_code == 303
        assert client.get("/images/a.png").content == PNG
        etag = client.get("/wiki/Home").headers["etag"]
        assert client.get("/wiki/Home", headers={"If-None-Match": etag}).status_code == 304
        assert client.head("/images/a.png").status_code == 200
        assert client.get("/search?q=checked").status_code == 200
        assert client.get("/nothing").status_code == 404
        assert client.post("/edit/Home", data={"token": "x"}).status_code == 403
    server.stop()
    assert set(re.findall(r"\w*(?:Warning|Error): .*", server.log())) <= OUTDATED
