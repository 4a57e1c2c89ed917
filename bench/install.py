"""Getting what is compared: the peers from PyPI into an environment of their own, our programs from cargo."""

import json
import shutil
import subprocess
import sys

from spec import BENCH, BIN, ENVIRONMENT, PYTHON, RELEASE, ROOT, WEFT_SYMBOL, WS_LOAD

DEBIAN_PACKAGES = {"wrk": "wrk", "ab": "apache2-utils", "taskset": "util-linux"}
INSTALL_SECONDS = 900


def check_tools():
    """Exit with what to install when a program of the benchmarks is missing."""
    missing = [package for program, package in DEBIAN_PACKAGES.items() if not shutil.which(program)]
    if missing:
        sys.exit(f"bench: needs {', '.join(missing)}: apt-get install {' '.join(missing)}")


def install(specs):
    """Install what the servers of `specs` need that is not there yet, and this repository's pronghorn anew."""
    if not (BIN / "python").exists():
        subprocess.run([PYTHON, "-m", "venv", ENVIRONMENT], check=True)
    wanted = {spec.package for spec in specs if spec.package}.union(*(spec.extras for spec in specs))
    present = installed_versions()
    for package in sorted(wanted):
        if package not in present:
            _install(package)
    if "weft-server" in wanted:
        _provide_weft_symbol()
    if any(spec.program() == BIN / "pronghorn" for spec in specs):
        _install_pronghorn()


def installed_versions():
    """Return {package: version} of the servers' environment."""
    listing = subprocess.run(
        [BIN / "python", "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"],
        check=True,
        capture_output=True,
    ).stdout
    return {entry["name"].lower(): entry["version"] for entry in json.loads(listing)}


def build_programs(specs):
    """Build those of our programs that are servers of `specs`, and the load generator for WebSockets."""
    programs = {spec.program() for spec in specs} | {WS_LOAD}
    for program, package, target in PROGRAMS:
        if program not in programs:
            continue
        built = subprocess.run(["cargo", "build", "--release", "--quiet", "--package", package, target], cwd=ROOT)
        if built.returncode:
            print(f"bench: {package} cannot be built (see above): measured without it", file=sys.stderr)


def _install_pronghorn():
    """Build a release of pronghorn for the servers' interpreter: it has to see the loops that are installed there."""
    _install("pronghorn", "--force-reinstall", "--no-deps", str(ROOT))


def _install(package, *arguments):
    print(f"bench: installing {package}", file=sys.stderr)
    command = [BIN / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        installed = subprocess.run(
            [*command, *(arguments or (package,))], capture_output=True, text=True, timeout=INSTALL_SECONDS
        )
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
    where = [BIN / "python", "-c", "import sysconfig; print(sysconfig.get_path('include'))"]
    include = subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip()
    source = BENCH / "weft_symbol.c"
    built = subprocess.run(["cc", "-shared", "-fPIC", "-O2", f"-I{include}", "-o", WEFT_SYMBOL, source])
    if built.returncode:
        print("bench: weft cannot be loaded by this interpreter: skipped", file=sys.stderr)


PROGRAMS = (
    (RELEASE / "floor", "pronghorn-bench-floor", "--bins"),
    (RELEASE / "examples/hello", "pronghorn-engine", "--example=hello"),
    (WS_LOAD, "pronghorn-bench-ws-load", "--bins"),
)
