"""Getting what is compared: the peers from PyPI into an environment of their own, our programs from cargo."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from servers import BENCH, BIN, ROOT, WEFT_SYMBOL

DEBIAN_PACKAGES = {"wrk": "wrk", "ab": "apache2-utils", "taskset": "util-linux"}
INSTALL_SECONDS = 300


def check_tools():
    """Exit with what to install when a program of the benchmarks is missing."""
    missing = [package for program, package in DEBIAN_PACKAGES.items() if not shutil.which(program)]
    if missing:
        sys.exit(f"bench: needs {', '.join(missing)}: apt-get install {' '.join(missing)}")


def install_peers(packages):
    """Install each of `packages` that is not there yet, one by one, so that a failure costs one server only."""
    if not (BIN / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", BENCH / ".venv"], check=True)
    present = installed_versions()
    for package in packages:
        if package not in present:
            _install(package)
    if "weft-server" in packages:
        _provide_weft_symbol()


def installed_versions():
    """Return {package: version} of the peers' environment."""
    listing = subprocess.run(
        [BIN / "python", "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"],
        check=True,
        capture_output=True,
    ).stdout
    return {entry["name"].lower(): entry["version"] for entry in json.loads(listing)}


def build_programs():
    """Build the floor and the engine's hello example; return the folder they are built into."""
    for package, target in (("pronghorn-bench-floor", "--bins"), ("pronghorn-engine", "--example=hello")):
        built = subprocess.run(["cargo", "build", "--release", "--quiet", "--package", package, target], cwd=ROOT)
        if built.returncode:
            print(f"bench: {package} cannot be built (see above): measured without it", file=sys.stderr)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def _install(package):
    print(f"bench: installing {package}", file=sys.stderr)
    command = [BIN / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
    try:
        installed = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS)
        reason = installed.stderr.strip().splitlines()[-1:] if installed.returncode else None
    except subprocess.TimeoutExpired:
        reason = [f"not done after {INSTALL_SECONDS} s"]
    if reason is not None:
        print(f"bench: {package} cannot be had, skipped: {''.join(reason)}", file=sys.stderr)


def _provide_weft_symbol():
    """Build the missing symbol where weft cannot be imported without it."""
    imported = subprocess.run([BIN / "python", "-c", "import weft"], capture_output=True, text=True)
    if "undefined symbol: _PyVectorcall_Call" not in imported.stderr:
        return
    include = sysconfig.get_path("include")
    source = BENCH / "weft_symbol.c"
    built = subprocess.run(["cc", "-shared", "-fPIC", "-O2", f"-I{include}", "-o", WEFT_SYMBOL, source])
    if built.returncode:
        print("bench: weft cannot be loaded by this interpreter: skipped", file=sys.stderr)
