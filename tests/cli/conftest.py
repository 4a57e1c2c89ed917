"""What the tests of the command share: the command itself, in a folder of its own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.command import Command, command_in, python


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder the command runs in, with an application `hello:app` in it."""
    (tmp_path / "hello.py").write_text(
        "def app(environ, start_response):\n    start_response('200 OK', [])\n    return [b'hello']\n"
    )
    return tmp_path


@pytest.fixture
def command(folder: Path) -> Command:
    """The command, run to its end in that folder: see `harness.command.command_in`."""
    return command_in(folder)


@pytest.fixture
def interpreter(folder: Path) -> Command:
    """A function that runs Python code to its end: `interpreter(code, **variables) -> CompletedProcess`."""

    def run(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return python("-c", code, cwd=folder, **variables)

    return run
