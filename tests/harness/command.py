"""The command, run to its end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SECONDS = 30


def python(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs Python in an environment without settings but those in `variables`."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PRONGHORN_", "WEB_CONC"))}
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=clean | variables, capture_output=True, text=True, timeout=SECONDS
    )
