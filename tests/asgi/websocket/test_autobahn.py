"""The cases of the Autobahn test suite that do not take long; `make autobahn` runs all."""

import subprocess
import sys
from pathlib import Path

import pytest

RUNNER = Path(__file__).parents[3] / "conformance" / "autobahn.py"
# Of the groups that send a thousand messages a case, some of each kind.
CASES = ["1.*", "2.*", "3.*", "4.*", "5.*", "6.*", "7.*", "9.*", "10.*", "12.*.3", "13.*.3"]
SECONDS = 110


@pytest.mark.timeout(SECONDS + 10)
def test_no_case_of_autobahn_fails(serve_asgi, loop):
    server = serve_asgi("ws_echo:app", "--ws-ping-interval", "0", "--loop", loop)
    command = [sys.executable, str(RUNNER), "--at", f"ws://{server.host}:{server.port}", *CASES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(" cases, 0 failed\n") and int(done.stdout.split()[0]) > 300, done.stdout
