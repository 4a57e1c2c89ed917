"""Reads the corpus of requests; its format is described in the README beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

CORPUS = Path(__file__).parents[2] / "crates" / "pronghorn-proto" / "corpus"


@dataclass(frozen=True)
class Expected:
    """One response the client must see; `facts` are (name, value), the value empty for facts that have none."""

    status: int
    kept: bool
    method: str = ""
    path: str = "-"
    facts: tuple[tuple[str, str], ...] = ()

    def has(self, fact: str) -> bool:
        """Whether that fact is named."""
        return any(name == fact for name, _ in self.facts)


@dataclass
class Case:
    """What a client sends, whether it then closes its side, what it must see, and whether the server then waits."""

    name: str
    sent: bytes = b""
    ends: bool = False
    expected: list[Expected] = field(default_factory=list)
    waits: bool = False


def read_corpus() -> list[Case]:
    """Every case of every file."""
    files = sorted(CORPUS.glob("*.txt"))
    assert files, f"there is no corpus in {CORPUS}"
    return [case for file in files for case in read_cases(file.read_text("utf-8"))]


def read_cases(text: str) -> Iterator[Case]:
    """The cases of one file."""
    case: Case | None = None
    for line in text.split("\n"):
        if line.startswith("== "):
            if case is not None:
                yield case
            case = Case(line[3:])
        elif line.strip() and not line.startswith("#"):
            assert case is not None, f"a line before the first case: {line!r}"
            take(line, case)
    if case is not None:
        yield case


def take(line: str, case: Case) -> None:
    """Adds what one line says to its case."""
    sign, _, rest = line.partition(" ")
    if line == "eof":
        case.ends = True
    elif sign in (">", "+"):
        case.sent += unescaped(rest) + (b"\r\n" if sign == ">" else b"")
    elif sign.startswith("*"):
        case.sent += unescaped(rest) * int(sign[1:])
    elif line == "< wait":
        case.waits = True
    elif sign.startswith("<"):
        case.expected += [response(rest)] * int(sign[2:] or 1)
    else:
        raise AssertionError(f"not a line of the corpus: {line!r}")


def response(text: str) -> Expected:
    """What follows the sign of a response."""
    status, connection, *rest = text.rstrip().split(" ")
    target = rest[:2] if status == "200" else []
    facts = tuple((name, plain(value)) for name, _, value in (fact.partition("=") for fact in rest[len(target) :]))
    return Expected(int(status), {"keep": True, "close": False}[connection], *map(plain, target), facts=facts)


def plain(text: str) -> str:
    """The text without escapes, its bytes as latin-1."""
    return unescaped(text).decode("latin-1")


def unescaped(text: str) -> bytes:
    """The bytes the text stands for."""
    return ESCAPE.sub(lambda match: escaped_byte(match.group()), text.encode())


def escaped_byte(escape: bytes) -> bytes:
    """The byte of one escape."""
    if escape.startswith(b"\\x"):
        return bytes([int(escape[2:], 16)])
    return {b"\\r": b"\r", b"\\n": b"\n", b"\\t": b"\t", b"\\\\": b"\\", b"\\s": b" "}[escape]


ESCAPE = re.compile(rb"\\(?:x[0-9a-fA-F]{2}|.)")
