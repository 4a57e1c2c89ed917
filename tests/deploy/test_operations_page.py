"""docs/operations.md: its commands are valid, and what it says of other numbers is so."""

import re
import shlex
import signal
from pathlib import Path

import pytest

from harness.command import python, seconds, settings_of

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "operations.md").read_text()
COMMANDS = re.findall(r"^    (pronghorn .*)$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_valid(command, tmp_path):
    arguments = [word for word in shlex.split(command)[1:] if word != "--check-config"]
    assert settings_of(arguments, tmp_path)["app"] == "wiki:application"


def test_every_flag_that_is_named_is_one_of_the_server(tmp_path):
    flags = set(re.findall(r"`--([a-z-]+)", PAGE)) - {"stop-timeout"}
    known = set(settings_of([], tmp_path)) | set(re.findall(r"# (\S+) is not set", printed(tmp_path)))
    assert flags and flags <= known | {"check-config"}


def test_every_file_that_is_named_is_there():
    links = re.findall(r"\]\(([^)#:]+)\)", PAGE)
    paths = re.findall(r"(?<![/\w])deploy/[\w./-]+", PAGE)
    assert len(links) > 5 and len(paths) > 3
    for path in [ROOT / "docs" / link for link in links] + [ROOT / path for path in paths]:
        assert path.exists(), path


def test_nginx_gives_up_later_than_the_server_and_keeps_connections_shorter(tmp_path):
    settings = settings_of([], tmp_path)
    assert number(r"proxy_read_timeout (\d+)s") > seconds(settings["request-timeout"])
    assert number(r"keepalive_timeout (\d+)s") < seconds(settings["keep-alive"])
    assert settings["max-body"] == str(number(r"client_max_body_size (\d+)m")) + "MiB"


def test_docker_waits_longer_than_the_server(tmp_path):
    assert number(r"--stop-timeout (\d+)") > seconds(settings_of([], tmp_path)["graceful-timeout"])


def test_every_signal_exists():
    table = PAGE[PAGE.index("## Signals") : PAGE.index("## Log rotation")]
    names = re.findall(r"^\| ([A-Z0-9, ]+) \|", table, re.MULTILINE)
    for name in ", ".join(names).split(", "):
        assert signal.Signals[f"SIG{name}"]


def number(pattern):
    """The number that the page has there."""
    return int(re.search(pattern, PAGE)[1])


def printed(folder):
    """What --print-config prints."""
    return python("-m", "pronghorn", "--print-config", cwd=folder).stdout
