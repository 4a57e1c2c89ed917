"""Runs the checks of tests/rules against pronghorn and its peers and writes the grid, docs/conformance.md.

Standard library only. `make bench` installs the peers into bench/.venv; one that is not there gets a column of dashes. Run it
with the interpreter pronghorn is installed for: `.venv/bin/python conformance/run.py [SERVER ...]`. With names it prints the
failures of those servers and writes nothing.
"""

from __future__ import annotations

import datetime
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

from contestants import ROOT, Contestant, Started, contestants
from harness.rule import Check, checks_of
from install import installed_versions
from rules import exhaustion, framing, request_head, response, wsgi

GRID = ROOT / "docs" / "conformance.md"
EXCHANGE_WITHIN = 3.0
# How many servers are tried at the same time; more would slow each other down.
AT_ONCE = 3
# Above the longest deadline anybody has by default for what the checks wait for, 30 s.
DEADLINE_WITHIN = 40.0
Verdicts = dict[str, str]

TITLES = {
    1: "Host", 2: "Absolute targets", 3: "One Host", 4: "Target forms", 5: "Field lines", 6: "Versions", 7: "Limits", 8: "Connection: close",
    9: "HTTP/1.0", 10: "Upgrade", 11: "Content-Length", 12: "Transfer-Encoding", 13: "Chunks", 14: "Trailers", 15: "Cut bodies",
    16: "Half-close", 17: "Pipelining", 18: "Expect", 19: "Early answers", 20: "Unread bodies", 21: "Responses without body",
    22: "Wrong lengths", 23: "Fields of the application", 24: "Failing applications", 25: "Date and writes", 26: "environ",
    27: "start_response and close", 28: "wsgi.input", 29: "PEP 3333", 31: "Deadlines", 32: "Linear time", 33: "Nothing left",
}  # fmt: skip

INTRODUCTION = """\
# Conformance

What each server does with the inputs of the protocol rules this server keeps. Every check sends its inputs whole, cut at every
CRLF and byte by byte, and passes only if all of them have the right outcome each time. Each server runs with one worker, as the
benchmarks start it, and with its own default limits and deadlines.

`.venv/bin/python conformance/run.py` made this page on {date} from the checks in `tests/rules`; nothing in it is written by
hand. A dash is a server that could not be started here.

{versions}
"""


def main(names: list[str]) -> None:
    """Judges the servers and writes the grid, or prints what the named ones fail."""
    checks = sorted((check for module in MODULES for check in checks_of(module)), key=lambda check: check.number)
    chosen = [one for one in contestants() if not names or one.name in names]
    verdicts = judge_all(chosen, checks)
    if not names:
        GRID.write_text(page(chosen, checks, verdicts) + of_autobahn(), "utf-8")
    for one in chosen:
        passed = sum(verdict == PASS for verdict in verdicts[one.name].values())
        print(f"{one.name}: {passed} of {len(checks)} checks passed")


def judge_all(chosen: list[Contestant], checks: list[Check]) -> dict[str, Verdicts]:
    """What came of every check, by server and check. Those that wait for deadlines run for all servers at once."""
    quick = [check for check in checks if not check.hurried]
    slow = [check for check in checks if check.hurried]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        early = pool.map(lambda one: judge(one, quick, EXCHANGE_WITHIN), chosen)
        verdicts = {one.name: verdict for one, verdict in zip(chosen, early, strict=True)}
    with ThreadPoolExecutor(len(chosen)) as pool:
        late = pool.map(lambda one: judge(one, slow, DEADLINE_WITHIN), chosen)
        return {one.name: verdicts[one.name] | verdict for one, verdict in zip(chosen, late, strict=True)}


def judge(one: Contestant, checks: list[Check], timeout: float) -> Verdicts:
    """What came of each check against one server, which is started anew for each application and after each failure."""
    if not one.present:
        return dict.fromkeys((check.keeps for check in checks), UNKNOWN)
    verdicts = {}
    for app, group in groupby(sorted(checks, key=lambda check: check.app), key=lambda check: check.app):
        started = None
        for check in group:
            try:
                started = started or one.start(app)
            except AssertionError as error:
                report(one, check, error)
                verdicts[check.keeps] = UNKNOWN
                continue
            verdicts[check.keeps] = PASS if passes(one, check, started, timeout) else FAIL
            if verdicts[check.keeps] == FAIL:
                started.server.kill()
                started = None
        if started is not None:
            started.server.kill()
    return verdicts


def passes(one: Contestant, check: Check, started: Started, timeout: float) -> bool:
    """Whether every attempt of a check has the right outcome and the server still answers; says which does not."""
    for name, attempt in check.attempts():
        try:
            attempt.against(started, timeout)
        except (AssertionError, OSError, ValueError, KeyError) as error:
            report(one, name, error)
            return False
    return started.answers()


def report(one: Contestant, what: object, error: Exception) -> None:
    """A line about a failure."""
    print(f"{one.name}: {what}: {type(error).__name__}: {str(error)[:200]!r}", file=sys.stderr)


def page(chosen: list[Contestant], checks: list[Check], verdicts: dict[str, Verdicts]) -> str:
    """The grid in Markdown: a table for each rule."""
    lines = [INTRODUCTION.format(date=datetime.date.today().isoformat(), versions=versions(chosen))]
    lines += [row(["passed of all checks", *names(chosen)]), row(["---", *["---"] * len(chosen)])]
    lines += [row([str(len(checks)), *(str(list(verdicts[one.name].values()).count(PASS)) for one in chosen)]), ""]
    for number, group in groupby(checks, key=lambda check: check.number):
        lines += [f"## {number}. {TITLES[number]}", "", row(["", *names(chosen)]), row(["---", *["---"] * len(chosen)])]
        lines += [row([check.keeps, *(verdicts[one.name][check.keeps] for one in chosen)]) for check in group]
        lines.append("")
    return "\n".join(lines)


def of_autobahn() -> str:
    """The part of the page that conformance/autobahn.py writes, as it is."""
    return "".join(GRID.read_text("utf-8").partition("\n## WebSocket\n")[1:])


def names(chosen: list[Contestant]) -> list[str]:
    """The heads of the columns."""
    return [one.name for one in chosen]


def row(cells: list[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"


def versions(chosen: list[Contestant]) -> str:
    """Which versions were judged."""
    packages = {**installed_versions(), "pronghorn": "this tree"}
    judged = [f"{one.name} {packages[one.spec.package if one.spec else 'pronghorn']}" for one in chosen if one.present]
    return f"Judged: {', '.join(judged)}, on Python {'.'.join(map(str, sys.version_info[:3]))}, Linux {os.uname().release}."


MODULES = [request_head, framing, response, wsgi, exhaustion]
PASS, FAIL, UNKNOWN = "pass", "**fail**", "–"

if __name__ == "__main__":
    main(sys.argv[1:])
