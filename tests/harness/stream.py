"""Reading streams that are too large to keep."""

from __future__ import annotations

from harness import process
from harness.client import Client

PIECE = 1024 * 1024


def read_watching_memory(client: Client, pid: int) -> tuple[int, int]:
    """Reads to the end of the connection. Gives how many bytes came, and by how many the memory of the process has grown meanwhile."""
    before = process.resident(pid)
    received, most = 0, before
    buffer = bytearray(PIECE)
    while count := client.socket.recv_into(buffer):
        received += count
        most = max(most, process.resident(pid))
    return received, most - before
