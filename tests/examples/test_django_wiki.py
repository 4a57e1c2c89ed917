"""The Django project, used by readers, an editor and an administrator."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import httpx
import pytest

PROJECT = Path(__file__).parents[2] / "examples" / "django_wiki"
PASSWORD = "correct horse battery staple"


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """A database as the commands of the README make it."""
    path = tmp_path_factory.mktemp("django") / "new.sqlite3"
    environment = {**os.environ, "DJANGO_DATABASE": str(path), "DJANGO_SUPERUSER_PASSWORD": PASSWORD}
    who = ["--username", "admin", "--email", "admin@example.org"]
    for command in (["migrate", "--verbosity=0"], ["createsuperuser", "--noinput", *who]):
        subprocess.run([sys.executable, PROJECT / "manage.py", *command], check=True, env=environment)
    return path


@pytest.fixture(scope="module")
def server(serve_module, database):
    """A wiki that the tests share: each writes pages of its own."""
    return serve_module("django_wiki.wsgi:application", app_dir=PROJECT, env={"DJANGO_DATABASE": str(database)})


@pytest.fixture
def reader(server):
    with httpx.Client(base_url=server.url, headers={"Referer": server.url}) as client:
        yield client


@pytest.fixture
def editor(server):
    with httpx.Client(base_url=server.url, headers={"Referer": server.url}) as client:
        response = send(client, "/admin/login/", username="admin", password=PASSWORD, next="/")
        assert response.status_code == 302
        yield client


def send(client: httpx.Client, path: str, **values: str) -> httpx.Response:
    """Open the form at a path, and send it with some values."""
    return client.post(path, data={**fields(client.get(path)), **values})


def fields(response: httpx.Response) -> dict[str, str]:
    """The hidden fields of a page's forms."""
    inputs = [dict(re.findall(r'(\w+)="([^"]*)"', tag)) for tag in re.findall(r"<input [^>]*>", response.text)]
    return {tag["name"]: unescape(tag.get("value", "")) for tag in inputs if tag["type"] == "hidden" and "name" in tag}


def test_the_migrations_are_those_of_the_models(database):
    command = [sys.executable, PROJECT / "manage.py", "makemigrations", "--check", "--dry-run"]
    subprocess.run(command, check=True, env={**os.environ, "DJANGO_DATABASE": str(database)})


def test_a_reader_reads(reader):
    response = reader.get("/")
    assert response.status_code == 200
    assert "<h1>Pages</h1>" in response.text
    missing = reader.get("/wiki/Nothing/")
    assert missing.status_code == 404
    assert "DEBUG" not in missing.text
    assert reader.head("/").content == b""
    assert reader.post("/").status_code in (403, 405)


def test_a_reader_is_asked_to_log_in_before_writing(reader):
    response = reader.get("/wiki/Tea/edit/")
    assert response.status_code == 302
    assert response.headers["location"] == "/admin/login/?next=/wiki/Tea/edit/"


def test_a_wrong_password_does_not_log_in(reader):
    response = send(reader, "/admin/login/", username="admin", password="wrong")
    assert response.status_code == 200
    assert "Please enter the correct" in response.text


def test_an_editor_writes_a_page(editor, reader):
    response = send(editor, "/new/", title="Grüner Tee")
    assert response.headers["location"] == "/wiki/Gr%C3%BCner%20Tee/edit/"
    saved = send(editor, response.headers["location"], text="Sencha & <Gyokuro>\r\n\r\n" + "leaf " * 20_000)
    assert saved.status_code == 302
    page = reader.get(saved.headers["location"])
    assert "<h1>Grüner Tee</h1>" in page.text
    assert "<p>Sencha &amp; &lt;Gyokuro&gt;</p>" in page.text
    assert page.text.count("leaf ") >= 19_999
    assert "Grüner Tee" in reader.get("/", params={"q": "tee"}).text
    assert "Grüner Tee" not in reader.get("/", params={"q": "kaffee"}).text


def test_history_keeps_what_was_changed(editor):
    send(editor, "/wiki/Kept/edit/", text="first")
    send(editor, "/wiki/Kept/edit/", text="second")
    assert "second" in editor.get("/wiki/Kept/").text
    history = editor.get("/wiki/Kept/history/").text
    assert history.index("second") < history.index("first")
    assert "by admin" in history


def test_the_later_of_two_editors_is_refused(editor):
    send(editor, "/wiki/Shared/edit/", text="first")
    late = fields(editor.get("/wiki/Shared/edit/"))
    send(editor, "/wiki/Shared/edit/", text="second")
    refused = editor.post("/wiki/Shared/edit/", data={**late, "text": "third"})
    assert refused.status_code == 409
    assert "third" in refused.text
    assert "second" in editor.get("/wiki/Shared/").text


@pytest.mark.parametrize(("path", "values"), [("/new/", {"title": "a/b"}), ("/wiki/Tea/edit/", {"text": ""})])
def test_a_form_that_is_wrong_is_shown_again(editor, path, values):
    response = send(editor, path, **values)
    assert response.status_code in (200, 422)
    assert 'class="errorlist"' in response.text


def test_a_form_from_elsewhere_is_refused(editor):
    assert editor.post("/wiki/Stolen/edit/", data={"text": "stolen", "base": "0"}).status_code == 403
    assert editor.get("/wiki/Stolen/").status_code == 404


def test_an_administrator_uses_the_admin(editor, reader):
    send(editor, "/wiki/Doomed/edit/", text="first")
    assert "Site administration" in editor.get("/admin/").text
    found = re.search(
        r'href="(/admin/pages/page/\d+/)change/[^"]*">Doomed</a>', editor.get("/admin/pages/page/?q=doom").text
    )
    assert send(editor, f"{found[1]}delete/", post="yes").status_code == 302
    assert reader.get("/wiki/Doomed/").status_code == 404


def test_a_page_is_sent_again_only_when_it_changed(editor, reader):
    send(editor, "/wiki/Same/edit/", text="first")
    page = reader.get("/wiki/Same/")
    again = reader.get("/wiki/Same/", headers={"If-None-Match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_static_files_are_off(reader):
    assert reader.get("/static/admin/css/base.css").status_code == 404


def test_a_host_that_is_not_allowed_is_refused(reader):
    assert reader.get("/", headers={"Host": "evil.example"}).status_code == 400
