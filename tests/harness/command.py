"""The command, run to its end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

SECONDS = 30

Command = Callable[..., "subprocess.CompletedProcess[str]"]


def python(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs Python in an environment without settings but those in `variables`."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PRONGHORN_", "WEB_CONC", "FORWARDED_ALLOW"))
    }
    return subprocess.run(
        [sys.executable, *arguments], cwd=cwd, env=clean | variables, capture_output=True, text=True, timeout=SECONDS
    )


def command_in(folder: Path) -> Command:
    """A function that runs the command to its end there: `command(*arguments, **variables) -> CompletedProcess`."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return python("-m", "pronghorn", *arguments, cwd=folder, **variables)

    return run


def settings_of(arguments: Sequence[str], cwd: Path) -> dict[str, str]:
    """What settings the arguments of the command mean, by name; AssertionError for a flag or value that is not valid."""
    done = python("-m", "pronghorn", *arguments, "--print-config", cwd=cwd)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if not line.startswith("#")]
    pairs = [line.split("  # ")[0].split(" = ", 1) for line in lines if line]
    return {name: value.strip('"') for name, value in pairs}


def seconds(duration: str) -> float:
    """A duration of the settings in seconds."""
    for unit, factor in (("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)):
        if duration.removesuffix(unit).isdecimal():
            return float(duration.removesuffix(unit)) * factor
    raise ValueError(duration)
