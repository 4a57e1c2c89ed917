"""How a server is described, and where the programs are that a description names."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

BENCH = Path(__file__).parent
ROOT = BENCH.parent
RELEASE = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target") / "release"  # what cargo builds
WS_LOAD = RELEASE / "ws_load"
PYTHON = os.environ.get("BENCH_PYTHON") or sys.executable  # the interpreter all Python servers run on


def _environment():
    """Return the folder that peers and pronghorn are installed into: one for each version asked for by name."""
    if not os.environ.get("BENCH_PYTHON"):
        return BENCH / ".venv"
    version = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        asked = subprocess.run([PYTHON, "-c", version], check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"bench: BENCH_PYTHON={PYTHON} cannot be run: {error}")
    return BENCH / f".venv-{asked.stdout.strip()}"


ENVIRONMENT = _environment()
BIN = ENVIRONMENT / "bin"
WEFT_SYMBOL = ENVIRONMENT / "weft_symbol.so"  # made by install.py, which says why


@dataclass(frozen=True)
class ServerSpec:
    """How a server is started.

    `command` may hold `{app}` (a callable of `bench_app`, or of `asgi_app`) and `{port}`. `threads` is how many threads
    may run the application; 0 means inline on the event loop, so one slow request holds up all others. `package` is
    the name on PyPI, or None for what this repository builds; `extras` are packages that make it faster.
    """

    name: str
    threads: int
    command: tuple[str, ...]
    package: str | None = None
    workloads: frozenset[str] = frozenset()
    extras: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)

    def argv(self, app, port):
        """Return the command line that serves the callable `app` on 127.0.0.1:`port`."""
        return [word.format(app=app, port=port) for word in self.command]

    def program(self):
        """Return the path of the program that must exist for this server to be started."""
        return Path(self.command[0])
