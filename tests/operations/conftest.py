"""What the tests of operations share: the command, in a folder that every user can read, and the command of one without rights."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness import fleet
from harness.command import Command, command_in, python
from harness.server import Server

APPS = Path(__file__).parent / "apps"

# Loads everything of pronghorn before it gives up its rights, as nobody may read the folder it is in.
WITHOUT_RIGHTS = """
import os, sys
from pronghorn.__main__ import main
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
sys.exit(main())
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may read and write, with the applications `hello:app` and `identity:app` in it."""
    path = Path(tempfile.mkdtemp(prefix="pronghorn-"))
    path.chmod(0o777)
    shutil.copy(APPS / "identity.py", path)
    shutil.copy(APPS.parent.parent / "apps" / "hello.py", path)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def command(folder: Path) -> Command:
    """The command, run to its end in that folder: see `harness.command.command_in`."""
    return command_in(folder)


@pytest.fixture
def command_without_rights(folder: Path) -> Command:
    """As `command`, but never as root."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return python("-c", WITHOUT_RIGHTS, *arguments, cwd=folder, **variables)

    return run


@pytest.fixture
def numbered(tmp_path: Path) -> Path:
    """The module of `numbered:app` in `tmp_path`, a copy that a test may break."""
    return Path(shutil.copy(APPS / "numbered.py", tmp_path))


@pytest.fixture
def supervised(serve: Callable[..., Server]) -> Callable[..., Server]:
    """A function that starts a supervisor and so many workers, ready when all of them serve.

    `supervised(count, *args, importing="0", app="numbered:app", app_dir=APPS)`; `importing` is how many seconds the application
    takes to import.
    """

    def start(count: int, *args: str, importing: str = "0", app: str = "numbered:app", app_dir: Path = APPS) -> Server:
        arguments = ["--workers", str(count), *args]
        server = serve(app, *arguments, app_dir=app_dir, env={"IMPORT_SECONDS": importing}, supervised=True)
        fleet.wait_for_count(server.pid, count)
        return server

    return start
