"""The ways the bytes of a request can be cut on their way to the server. The outcome must never depend on it."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterable, Iterator

Delivery = Callable[[bytes], Iterable[bytes]]

# Long enough for an idle server to take up one piece before the next is there.
PAUSE = 0.00005
# Of anything longer only the number of pieces matters, and the pauses would add up.
PAUSED_UP_TO = 2048
EDGE = 1000
ODD = 97


def whole(data: bytes) -> Iterable[bytes]:
    """All at once."""
    return [data]


def by_line(data: bytes) -> Iterator[bytes]:
    """A piece ends with each CRLF."""
    return _paced(re.findall(rb"(?:(?!\r\n).)*\r\n|.+\Z", data, re.DOTALL))


def by_byte(data: bytes) -> Iterator[bytes]:
    """Every byte alone; of long data the first and the last thousand, and the middle in pieces of an odd length."""
    middle = range(EDGE, max(len(data) - EDGE, EDGE))
    pieces = [data[at : at + 1] for at in range(len(data)) if at not in middle]
    between = [data[at : min(at + ODD, middle.stop)] for at in middle[::ODD]]
    return _paced(pieces[:EDGE] + between + pieces[EDGE:])


def at_random(data: bytes) -> Iterator[bytes]:
    """Cut at a few places that depend on the data alone, so that a failure comes back."""
    places = random.Random(data)
    cuts = sorted({0, len(data), *(places.randrange(len(data)) for _ in range(5))})
    return _paced([data[start:end] for start, end in zip(cuts, cuts[1:])])


def _paced(pieces: list[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        yield piece
        if len(pieces) <= PAUSED_UP_TO:
            time.sleep(PAUSE)


DELIVERIES: dict[str, Delivery] = {"whole": whole, "by line": by_line, "by byte": by_byte}
