"""Runs the cases of the Autobahn test suite for WebSockets against pronghorn and writes what came of them into docs/conformance.md.

`make autobahn` does it. kosoku, in tests/requirements.txt, drives the suite's own cases. With `--at URL` it tries the server
there, whichever it is; with cases (ids such as 7.1.1, or patterns such as 12.1.*) and `--without CASE` only some are run. Both write
nothing. Ends with code 1 when a case has failed.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import importlib
import os
import sys
from collections import Counter
from collections.abc import Iterable
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

from kosoku import FailureError, run_fuzzingclient
from kosoku._caseindex import initialize_shims

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from harness.server import Server, pronghorn  # noqa: E402

GRID = ROOT / "docs" / "conformance.md"
APPS = ROOT / "tests" / "asgi" / "apps"
HEADING = "\n## WebSocket\n"
# How many cases run at the same time. They are heavier for the client than for the server.
AT_ONCE = 2
# The cases take what the server says for an answer, so it must not say anything by itself.
SETTINGS = ["--ws-ping-interval", "0"]

TITLES = {
    "1": "Messages of all sizes", "2": "Pings and pongs", "3": "Reserved bits", "4": "Opcodes", "5": "Fragments", "6": "UTF-8",
    "7": "Closing", "9": "Large messages, and many", "10": "Fragments made by the sender", "12": "permessage-deflate: messages",
    "13": "permessage-deflate: parameters",
}  # fmt: skip

INTRODUCTION = """
The cases of the Autobahn test suite, driven by kosoku {kosoku} against an application that sends each message back. `make autobahn`
made this table on {date}. "Non-strict" is right but not what the RFC advises; "informational" is what it leaves open.
"""


class Case:
    """What came of a case: `verdict` is the worse one of the messages and of how the connection ended."""

    def __init__(self, result):
        self.id = result.case_id
        self.passed = result.passed
        verdicts = [result.behavior.value, result.behavior_close.value]
        self.verdict = max(verdicts, key=lambda verdict: ORDER.get(verdict, len(ORDER)))
        self.why = f"{result.result} {result.result_close}"

    @property
    def group(self) -> str:
        """The first number of its id."""
        return self.id.split(".")[0]


def give_bytes() -> None:
    """Lets the cases of permessage-deflate have messages as bytes, whether the server compressed them or, as it may, did not.

    kosoku gives those that are not compressed as text, and counts the exception that follows as a failure.
    """
    initialize_shims()
    compression = importlib.import_module("case12_x_x")
    for case in compression.Case12_X_X + compression.Case13_X_X:
        case.onMessage = with_bytes(case.onMessage)


def with_bytes(receive):
    """`receive`, a method of a case, with its message as bytes."""

    def onMessage(self, message, binary):
        receive(self, message.encode("latin-1" if binary else "utf-8") if isinstance(message, str) else message, binary)

    return onMessage


def main() -> int:
    """Runs the cases that are asked for; the exit code."""
    asked = arguments()
    give_bytes()
    whole = not (asked.at or asked.cases or asked.without)
    cases = run_at(asked.at, asked) if asked.at else run_at_pronghorn(asked)
    failed = [case for case in cases if not case.passed]
    for case in failed:
        print(f"{case.id}: {case.verdict}: {case.why}")
    print(f"{len(cases)} cases, {len(failed)} failed")
    if whole:
        write(cases)
    return 1 if failed or not cases else 0


def arguments() -> argparse.Namespace:
    """What was typed."""
    parser = argparse.ArgumentParser(description="Runs the cases of the Autobahn test suite.")
    parser.add_argument("--at", metavar="URL", help="a server that runs, ws://HOST:PORT")
    parser.add_argument("--without", metavar="CASE", action="append", help="cases to leave out")
    parser.add_argument("cases", metavar="CASE", nargs="*", help="cases to run; all if there is none")
    return parser.parse_args()


def run_at_pronghorn(asked: argparse.Namespace) -> list[Case]:
    """Runs the cases against a server of this tree, started for them."""
    server: Server = pronghorn("ws_echo:app", *SETTINGS, app_dir=APPS)
    try:
        return run_at(f"ws://{server.host}:{server.port}", asked)
    finally:
        if faults := server.faults():
            print(f"{faults}\n{server.log()}", file=sys.stderr)
        server.kill()


def run_at(url: str, asked: argparse.Namespace) -> list[Case]:
    """Runs the cases against the server at `url`."""
    try:
        results = asyncio.run(client(url, asked))
    except FailureError as error:
        results = error.results
    except ValueError as error:
        sys.exit(f"autobahn: {error}")
    return [Case(result) for result in results]


async def client(url: str, asked: argparse.Namespace):
    """What kosoku says of each case."""
    return await run_fuzzingclient(url, asked.cases or None, asked.without, AT_ONCE)


def write(cases: list[Case]) -> None:
    """Puts the table in the place of the one before."""
    page = GRID.read_text("utf-8").partition(HEADING)[0].rstrip("\n")
    GRID.write_text(f"{page}\n{HEADING}{introduction()}\n{table(cases)}\n", "utf-8")


def introduction() -> str:
    """What the table is."""
    return INTRODUCTION.format(kosoku=version("kosoku"), date=datetime.date.today().isoformat())


def table(cases: list[Case]) -> str:
    """The verdicts counted, a row for each group."""
    rows = [["", "cases", *(verdict.lower() for verdict in ORDER), "failed"], ["---", *["--:"] * (len(ORDER) + 2)]]
    for group, members in groupby(cases, key=lambda case: case.group):
        rows.append(row(f"{group}. {TITLES.get(group, '')}", list(members)))
    rows.append(row("all", cases))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def row(title: str, cases: Iterable[Case]) -> list[str]:
    """How many of the cases have which verdict."""
    count = Counter(case.verdict if case.passed else "failed" for case in cases)
    return [title, str(count.total()), *(str(count[verdict]) for verdict in ORDER), str(count["failed"])]


# The verdicts of a case that has passed, best first.
ORDER = {verdict: place for place, verdict in enumerate(("OK", "NON-STRICT", "INFORMATIONAL"))}

if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # kosoku's threads sometimes abort a process that waits for the end of the interpreter.
    os._exit(code)
