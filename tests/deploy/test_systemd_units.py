"""The ready-made units: what is written in them is valid, and fits together."""

import shlex
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

from harness.command import seconds, settings_of

FOLDER = Path(__file__).parent.parent.parent / "deploy" / "systemd"
SERVICES = ["pronghorn.service", "pronghorn-activated.service"]
UNITS = [*SERVICES, "pronghorn-activated.socket"]

# systemd.unit(5), systemd.service(5), systemd.exec(5), systemd.kill(5), systemd.socket(5)
KNOWN = {
    "Unit": "Description After Wants Requires",
    "Install": "WantedBy Also",
    "Socket": "ListenStream SocketUser SocketGroup SocketMode Backlog",
    "Service": """Type ExecStart ExecReload User Group UMask RuntimeDirectory StateDirectory Environment EnvironmentFile
        KillMode TimeoutStartSec TimeoutStopSec WatchdogSec Restart RestartSec LimitNOFILE CapabilityBoundingSet
        NoNewPrivileges LockPersonality PrivateDevices PrivateTmp ProtectClock ProtectControlGroups ProtectHome
        ProtectHostname ProtectKernelLogs ProtectKernelModules ProtectKernelTunables ProtectProc ProtectSystem RemoveIPC
        RestrictAddressFamilies RestrictNamespaces RestrictRealtime RestrictSUIDSGID SystemCallArchitectures
        SystemCallFilter""",
}


def read(name):
    """The settings of a unit: for each section, for each name, its values."""
    unit = defaultdict(lambda: defaultdict(list))
    section = None
    for line in (FOLDER / name).read_text().replace("\\\n", " ").splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith(("#", ";")):
            key, value = line.split("=", 1)
            unit[section][key].append(value)
    return unit


def one(unit, key, section="Service"):
    """The only value of a name."""
    (value,) = unit[section][key]
    return value


def arguments(unit):
    """The arguments of the server that a service starts."""
    program, *rest = shlex.split(one(unit, "ExecStart"))
    assert Path(program).is_absolute() and Path(program).name == "pronghorn"
    return rest


def test_there_are_no_others():
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(UNITS)


@pytest.mark.parametrize("name", UNITS)
def test_every_name_is_one_of_systemd(name):
    for section, entries in read(name).items():
        assert set(entries) <= set(KNOWN[section].split())


@pytest.mark.parametrize("name", SERVICES)
def test_every_flag_is_one_of_the_server(name, tmp_path):
    settings = settings_of(arguments(read(name)), tmp_path)
    assert settings["supervisor"] == "true"


@pytest.mark.parametrize("name", SERVICES)
def test_systemd_talks_with_the_server_as_it_expects(name):
    unit = read(name)
    assert one(unit, "Type") == "notify"
    assert one(unit, "ExecReload") == "/bin/kill -HUP $MAINPID"
    # Workers are the supervisor's to stop.
    assert one(unit, "KillMode") == "mixed"
    assert int(one(unit, "WatchdogSec")) > 0


@pytest.mark.parametrize("name", SERVICES)
def test_systemd_waits_longer_than_the_server(name, tmp_path):
    unit = read(name)
    settings = settings_of(arguments(unit), tmp_path)
    assert int(one(unit, "TimeoutStartSec")) > seconds(settings["start-timeout"])
    assert int(one(unit, "TimeoutStopSec")) > seconds(settings["graceful-timeout"]) + seconds(settings["drain-delay"])


def test_the_socket_is_where_the_service_may_write(tmp_path):
    unit = read("pronghorn.service")
    folder = one(unit, "RuntimeDirectory")
    assert settings_of(arguments(unit), tmp_path)["bind"] == f'["unix:/run/{folder}/web.sock"]'


def test_an_activated_service_says_nothing_of_where_to_listen(tmp_path):
    unit = read("pronghorn-activated.service")
    given = settings_of(arguments(unit), tmp_path)
    assert not {"bind", "host", "port", "uds", "fd"} & given.keys()
    assert one(unit, "Requires", "Unit") == one(unit, "Also", "Install") == "pronghorn-activated.socket"


def test_systemd_itself_finds_nothing_wrong(tmp_path):
    if shutil.which("systemd-analyze") is None:
        return
    for name in UNITS:
        # The program is not installed here.
        text = (FOLDER / name).read_text().replace("/srv/wiki/.venv/bin/pronghorn", "/bin/true")
        (tmp_path / name).write_text(text)
    paths = [str(tmp_path / name) for name in UNITS]
    done = subprocess.run(["systemd-analyze", "verify", *paths], capture_output=True, text=True)
    assert [line for line in done.stderr.splitlines() if "pronghorn" in line] == []
