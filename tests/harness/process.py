"""What the kernel says of a process (proc(5))."""

from __future__ import annotations

import os
from pathlib import Path


def threads(pid: int) -> int:
    """How many threads the process has."""
    return len(os.listdir(f"/proc/{pid}/task"))


def descriptors(pid: int) -> int:
    """How many descriptors the process has open."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def resident(pid: int) -> int:
    """The process's resident memory in bytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid: int) -> float:
    """The processor time, user and system, the process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def group_members(group: int) -> list[int]:
    """The processes of a process group that have not ended (zombies have)."""
    members = []
    for entry in os.listdir("/proc"):
        if not entry.isdecimal():
            continue
        try:
            state, _, in_group = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(in_group) == group and state != "Z":
            members.append(int(entry))
    return members


def deleted_files(pid: int) -> int:
    """How many of its open descriptors are files on a disk without a name (temporary ones)."""
    links = []
    for descriptor in os.listdir(f"/proc/{pid}/fd"):
        try:
            links.append(os.readlink(f"/proc/{pid}/fd/{descriptor}"))
        except OSError:
            continue
    return sum(link.endswith(" (deleted)") and not link.startswith("/memfd:") for link in links)
