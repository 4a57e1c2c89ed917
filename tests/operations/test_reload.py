"""Starting again when a file of the application changes."""

import os
import sys
import time

import pytest

from harness.process import cpu_seconds, group_members
from harness.request import get
from harness.server import Server

APPLICATION = """
import part

def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    if environ["PATH_INFO"] == "/late":
        import late
        return [late.TEXT]
    return [part.TEXT]
"""
# While it starts for the first time somebody changes what it has imported.
CHANGED_WHILE_IT_STARTS = """
import pathlib

MODULE = pathlib.Path({place!r}, "late.py")
once = not pathlib.Path({place!r}, "done").exists()
if once:
    MODULE.write_text("TEXT = b'late'")
    pathlib.Path({place!r}, "done").touch()
import late
if once:
    MODULE.write_text("TEXT = b'later'")

def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [late.TEXT]
"""
# While it fails for the first time somebody repairs it.
REPAIRED_WHILE_IT_FAILS = """
import pathlib

try:
    import late
except ImportError:
    pathlib.Path({place!r}, "late.py").write_text("TEXT = b'repaired'")
    raise

def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [late.TEXT]
"""
# It imports what it has made itself, anew at each start.
MAKES_MODULES = """
import os, pathlib, sys

sys.path.insert(0, {outside!r})
pathlib.Path(__file__).with_name(f"made_{{os.getpid()}}.py").write_text("TEXT = b'made'")
pathlib.Path({outside!r}, "same_name.py").write_text(f"PID = {{os.getpid()}}")
made = __import__(f"made_{{os.getpid()}}")
import same_name

def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [made.TEXT]
"""
# While its lifespan begins for the first time somebody changes what it has imported.
CHANGED_IN_THE_LIFESPAN = """
import asyncio, pathlib
import part

PART = pathlib.Path(__file__).with_name("part.py")

async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        await receive()
        if part.TEXT == b"one":
            PART.write_text("TEXT = b'second'")
            await asyncio.sleep({takes})
            if {fails}:
                raise ValueError("it is the old one")
        await send({{"type": "lifespan.startup.complete"}})
        await receive()
        await send({{"type": "lifespan.shutdown.complete"}})
        return
    await send({{"type": "http.response.start", "status": 200, "headers": []}})
    await send({{"type": "http.response.body", "body": part.TEXT}})
"""
# Python keeps what it compiles, wherever the tests run.
COMPILES = {"PYTHONDONTWRITEBYTECODE": ""}
BROKEN = "TEXT = b'never closed"


@pytest.fixture
def folder(tmp_path):
    """A folder with the application `site:app`, which answers what part.py says."""
    (tmp_path / "shop.py").write_text(APPLICATION)
    (tmp_path / "part.py").write_text("TEXT = b'one'")
    return tmp_path


@pytest.fixture
def reloading(serve, folder):
    """A server of the application that starts again when it changes."""
    return serve("shop:app", "--reload", app_dir=folder, supervised=True)


def text(server, path="/"):
    """What the application answers."""
    return server.get(path).body.decode()


def until(server, wanted, path="/", within=5.0):
    """Waits until the application answers `wanted`; gives how many seconds that took."""
    began = time.monotonic()
    while text(server, path) != wanted:
        assert time.monotonic() < began + within, f"{text(server, path)!r} is not {wanted!r}\n{server.log()}"
        time.sleep(0.01)
    return time.monotonic() - began


def test_a_change_is_served_within_a_second(reloading, folder):
    assert text(reloading) == "one"
    (folder / "part.py").write_text("TEXT = b'second'")
    assert until(reloading, "second") < 1
    reloading.wait_for_log("part.py has changed: starting again")


def test_a_change_that_comes_again_is_served_again(reloading, folder):
    for turn in range(5):
        (folder / "part.py").write_text(f"TEXT = b'turn {turn}'")
        until(reloading, f"turn {turn}")


def test_an_editor_that_renames_is_seen(reloading, folder):
    draft = folder / ".part.py.swp"
    draft.write_text("TEXT = b'renamed'")
    draft.rename(folder / "part.py")
    assert until(reloading, "renamed") < 1


def test_an_editor_that_moves_the_old_file_away_first_is_seen(reloading, folder):
    (folder / "part.py").rename(folder / "part.py~")
    (folder / "part.py").write_text("TEXT = b'written anew'")
    assert until(reloading, "written anew") < 1


def test_what_was_imported_late_is_watched(reloading, folder, tmp_path_factory):
    (folder / "late.py").write_text("TEXT = b'late'")
    until(reloading, "late", "/late")
    (folder / "late.py").write_text("TEXT = b'later'")
    assert until(reloading, "later", "/late") < 1.5


def test_a_module_outside_of_the_folder_is_watched(serve, folder, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (folder / "part.py").rename(elsewhere / "part.py")
    server = serve("shop:app", "--reload", app_dir=folder, supervised=True, env={"PYTHONPATH": str(elsewhere)})
    assert text(server) == "one"
    (elsewhere / "part.py").write_text("TEXT = b'elsewhere'")
    assert until(server, "elsewhere") < 1.5


@pytest.fixture(params=["inside", "outside"])
def place(request, folder, tmp_path_factory):
    """A folder that modules are imported from: that of the application, or another."""
    return folder if request.param == "inside" else tmp_path_factory.mktemp("outside")


@pytest.mark.parametrize("application", [CHANGED_WHILE_IT_STARTS, REPAIRED_WHILE_IT_FAILS])
def test_a_change_before_it_serves_is_seen(serve, folder, place, application):
    (folder / "shop.py").write_text(application.format(place=str(place)))
    server = serve("shop:app", "--reload", app_dir=folder, supervised=True, env={"PYTHONPATH": str(place), **COMPILES})
    until(server, "later" if application is CHANGED_WHILE_IT_STARTS else "repaired")


@pytest.mark.parametrize("fails", [False, True], ids=["starts", "fails"])
@pytest.mark.parametrize("takes", [0, 0.5], ids=["at once", "late"])
def test_a_change_while_the_lifespan_begins_is_seen(serve, folder, takes, fails):
    (folder / "shop.py").write_text(CHANGED_IN_THE_LIFESPAN.format(takes=takes, fails=fails))
    server = serve("shop:app", "--reload", "--lifespan", "on", app_dir=folder, supervised=True)
    until(server, "second")


def test_modules_that_the_application_makes_itself_are_no_change(serve, folder, tmp_path_factory):
    application = MAKES_MODULES.format(outside=str(tmp_path_factory.mktemp("outside")))
    (folder / "shop.py").write_text(application)
    server = serve("shop:app", "--reload", app_dir=folder, supervised=True, env=COMPILES)
    assert text(server) == "made"
    time.sleep(1.5)
    assert "has changed" not in server.log()


def test_a_syntax_error_leaves_the_old_code_and_its_repair_is_served(reloading, folder):
    (folder / "part.py").write_text(BROKEN)
    reloading.wait_for_log("SyntaxError: unterminated string literal")
    assert text(reloading) == "one"
    (folder / "part.py").write_text("TEXT = b'repaired'")
    assert until(reloading, "repaired") < 1
    assert reloading.log().count("could not be imported") == 1


def test_an_error_is_waited_for_at_the_very_start(folder):
    (folder / "part.py").write_text(BROKEN)
    command = [sys.executable, "-m", "pronghorn", "shop:app", "--reload", "--app-dir", str(folder)]
    server = Server([*command, "--bind", "127.0.0.1:0"])
    try:
        server.wait_for_log("SyntaxError: unterminated string literal")
        server.wait_for_log("waiting for a change")
        (folder / "part.py").write_text("TEXT = b'repaired'")
        server.wait_ready()
        assert text(server) == "repaired"
        assert server.stop() == 0
        assert server.faults() == []
    finally:
        server.kill()


@pytest.mark.parametrize("end", ["TERM", "KILL"])
def test_a_worker_that_waits_for_a_repair_ends_with_the_supervisor(folder, end):
    (folder / "part.py").write_text(BROKEN)
    command = [sys.executable, "-m", "pronghorn", "shop:app", "--reload", "--app-dir", str(folder)]
    server = Server([*command, "--bind", "127.0.0.1:0"])
    try:
        server.wait_for_log("waiting for a change")
        if end == "KILL":
            os.kill(server.pid, 9)
            server.wait()
        else:
            assert server.stop() == 0
        deadline = time.monotonic() + 5
        while group_members(server.pid):
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        server.kill()


def test_a_repair_while_the_broken_code_is_imported_is_served(reloading, folder):
    (folder / "part.py").write_text("import time\ntime.sleep(1)\nraise ValueError('broken')")
    reloading.wait_for_log("part.py has changed")
    (folder / "part.py").write_text("TEXT = b'repaired'")
    until(reloading, "repaired")


def test_files_of_other_kinds_count_in_a_reload_dir_only(serve, folder, tmp_path_factory):
    templates = tmp_path_factory.mktemp("templates")
    server = serve("shop:app", "--reload", "--reload-dir", str(templates), app_dir=folder, supervised=True)
    (folder / "notes.txt").write_text("of no interest")
    (templates / "below").mkdir()
    (templates / "below" / "page.html").write_text("of interest")
    server.wait_for_log("page.html has changed: starting again")
    assert "notes.txt" not in server.log()


def test_a_connection_that_is_kept_ends_with_the_old_code(reloading, folder):
    with reloading.raw() as browser:
        assert browser.ask(get()).body == b"one"
        (folder / "part.py").write_text("TEXT = b'second'")
        assert browser.is_closed()
    assert text(reloading) == "second"


def test_every_worker_is_replaced(serve, folder):
    server = serve("shop:app", "--reload", "--workers", "2", app_dir=folder, supervised=True)
    (folder / "part.py").write_text("TEXT = b'second'")
    until(server, "second")
    deadline = time.monotonic() + 5
    while any(text(server) != "second" for _ in range(20)):
        assert time.monotonic() < deadline


def test_nothing_is_done_while_nothing_changes(reloading):
    assert text(reloading) == "one"
    before = cpu_seconds(reloading.pid)
    time.sleep(2)
    assert "has changed" not in reloading.log()
    assert cpu_seconds(reloading.pid) - before < 0.1


def test_it_needs_a_supervisor_and_an_application_that_is_imported_anew(command):
    assert "--reload needs the supervisor." in command("hello", "--reload", "--no-supervisor").stderr
    assert (
        "cannot watch missing. There is no such folder. Check reload-dir."
        in command("hello", "--reload", "--reload-dir", "missing").stderr
    )
    assert "--reload and --preload exclude each other." in command("hello", "--reload", "--preload").stderr
