"""What is kept of a run and what is shown of it: raw JSON, and a table for each workload."""

import json
import operator
import os
import platform
import statistics
import subprocess
from datetime import datetime
from pathlib import Path

from install import installed_versions
from spec import BENCH, BIN

# For each workload: the numbers that are compared, and whether less of each is better.
CPU = (("cpu_us", True),)
RATE_AND_CPU = (("rate", False), ("cpu_us", True))
ECHOES = ("ws-echo-1", "ws-echo-32", "ws-echo-256", "ws-echo-1-16k", "ws-echo-32-16k", "ws-echo-256-16k")
COMPARED = {
    "hello": CPU,
    "close": CPU,
    "json": CPU,
    "echo": CPU,
    "mixed": (("rate", False),),
    "idle": (("bytes_each", True),),
    "memory": (("pss_kib", True),),
    "options": CPU,
    "start": (("start_ms", True),),
    "roll": (("times_p99", True),),
    "asgi-hello": CPU,
    "asgi-json": CPU,
    "asgi-echo": CPU,
    "asgi-stream": CPU,
    "asgi-memory": (("pss_kib", True),),
    "asgi-blocked": (("delay_ms", True),),
    **dict.fromkeys(ECHOES, RATE_AND_CPU),
    "ws-broadcast": RATE_AND_CPU,
    "ws-idle": (("server_bytes", True),),
}
FLOORS = ("floor", "floor-websocket")

# Where ours are compared with each other: the server all are divided by.
OWN_REFERENCES = {"options": "pronghorn"}

# The columns of the tables: heading, how a cell is written, and the number it shows.
LATENCY_AND_COST = (
    ("p50 ms", "{:.3f}", "p50_ms"),
    ("p99 ms", "{:.3f}", "p99_ms"),
    ("cpu us", "{:.2f}", "cpu_us"),
    ("PSS MB", "{:.1f}", "pss_mb"),
    ("server", "{:.0%}", "server_busy"),
    ("load", "{:.0%}", "generator_busy"),
    ("others", "{:.0%}", "foreign_busy"),
)
LOAD_COLUMNS = (("requests/s", "{:,.0f}", "rate"), *LATENCY_AND_COST)
MESSAGE_COLUMNS = (("messages/s", "{:,.0f}", "rate"), *LATENCY_AND_COST)
HEADINGS = {"rate": "rate", "cpu_us": "cpu"}
MEMORY_COLUMNS = (("PSS MB", "{:.1f}", "pss_mb"), ("RSS MB", "{:.1f}", "rss_mb"))
COLUMNS = {
    "mixed": (("slow/s", "{:.0f}", "slow_rate"), *LOAD_COLUMNS),
    "idle": (
        ("held", "{:,.0f}", "held"),
        ("kept", "{:,.0f}", "kept"),
        ("bytes each", "{:,.0f}", "bytes_each"),
        ("p50 ms without", "{:.3f}", "p50_ms_without"),
        ("p50 ms", "{:.3f}", "p50_ms"),
        ("p99 ms without", "{:.3f}", "p99_ms_without"),
        ("p99 ms", "{:.3f}", "p99_ms"),
        ("PSS MB", "{:.1f}", "pss_mb"),
    ),
    **dict.fromkeys(ECHOES, MESSAGE_COLUMNS),
    "ws-broadcast": (("deliveries/s", "{:,.0f}", "rate"), *LATENCY_AND_COST),
    "ws-idle": (
        ("held", "{:,.0f}", "held"),
        ("kept", "{:,.0f}", "kept"),
        ("bytes each", "{:,.0f}", "bytes_each"),
        ("application's", "{:,.0f}", "application_bytes"),
        ("server's", "{:,.0f}", "server_bytes"),
        ("PSS MB", "{:.1f}", "pss_mb"),
    ),
    "asgi-blocked": (
        ("health ms", "{:.2f}", "health_ms"),
        ("blocked", "{:.2f}", "health_ms_blocked"),
        ("metrics ms", "{:.2f}", "metrics_ms"),
        ("blocked", "{:.2f}", "metrics_ms_blocked"),
        ("head late ms", "{:.2f}", "head_ms"),
        ("blocked", "{:.2f}", "head_ms_blocked"),
        ("delay ms", "{:.2f}", "delay_ms"),
    ),
    "asgi-memory": MEMORY_COLUMNS,
    "memory": MEMORY_COLUMNS,
    "start": (("start ms", "{:.0f}", "start_ms"),),
    "roll": (
        ("p50 ms", "{:.3f}", "p50_ms"),
        ("p99 ms", "{:.3f}", "p99_ms"),
        ("p50 ms rolling", "{:.3f}", "p50_ms_rolling"),
        ("p99 ms rolling", "{:.3f}", "p99_ms_rolling"),
        ("x p99", "{:.2f}", "times_p99"),
        ("rolls", "{:.0f}", "rolls"),
        ("failed", "{:.0f}", "failed"),
    ),
}


def save(workload, specs, samples, settings):
    """Write the raw samples of one workload with the machine's description; return the file's path."""
    now = datetime.now()
    record = {
        "workload": workload,
        "date": now.isoformat(timespec="minutes"),
        "machine": machine(),
        "settings": settings,
        "servers": {
            spec.name: {"threads": spec.threads, "command": _without_paths(spec), "rounds": samples[spec.name]}
            for spec in specs
            if spec.name in samples
        },
    }
    path = BENCH / "results" / f"{now:%Y-%m-%d-%H%M}-{workload}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")
    return path


def machine():
    """Describe the machine and the programs, without its name."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "python": _first_line(BIN / "python", "--version").removeprefix("Python "),
        "wrk": _first_line("wrk", "-v"),
        "ab": _first_line("ab", "-V"),
        "rustc": _first_line("rustc", "--version"),
        "packages": installed_versions(),
    }


def table(workload, specs, samples):
    """Return the Markdown table of one workload; `samples` holds a dict a round for each server's name."""
    measured = [spec for spec in specs if samples.get(spec.name)]
    if not measured:
        return "no server was measured"
    columns = [*COLUMNS.get(workload, LOAD_COLUMNS)]
    ratios = [
        (key, name) for key, less in COMPARED[workload] for name in _references(workload, key, less, measured, samples)
    ]
    headings = ["server", "threads", *(heading for heading, _, _ in columns), *_ratio_headings(workload, ratios)]
    lines = [_row(headings), _row(["---"] + ["--:"] * (len(headings) - 1))]
    for spec in measured:
        cells = [_cell(form, _median(samples[spec.name], key)) for _, form, key in columns]
        cells += [_cell("{:.2f}", _ratio(key, samples, spec.name, other)) for key, other in ratios]
        lines.append(_row([spec.name, str(spec.threads or "inline"), *cells]))
    return "\n".join(lines)


def _ratio_headings(workload, ratios):
    """Name the servers all are divided by, and the number where several are compared."""
    several = len(COMPARED[workload]) > 1
    return [f"x {name}{f' ({HEADINGS[key]})' if several else ''}" for key, name in ratios]


def _references(workload, key, less, measured, samples):
    """Return the servers all are divided by: the floor, where it does the same work, and the best peer, or one of ours."""
    own = OWN_REFERENCES.get(workload)
    if own in {spec.name for spec in measured}:
        return [own]
    floor = [spec.name for spec in measured if spec.name in FLOORS and key == "cpu_us"]
    best = _best_peer(key, less, measured, samples)
    return floor + ([best] if best else [])


def _best_peer(key, less, measured, samples):
    """Return the name of the peer that is best at the number `key`.

    A peer is ranked by its distance from the best of each round: plain medians would rank the noise of rounds.
    """
    pick = min if less else max
    peers = [spec.name for spec in measured if spec.package]
    values = {name: [sample[key] for sample in samples[name]] for name in peers}
    complete = max(map(len, values.values()), default=0)
    ranked = {name: known for name, known in values.items() if len(known) == complete and all(known)}
    if not ranked:
        return None
    best = [pick(of_round) for of_round in zip(*ranked.values(), strict=True)]
    return pick(ranked, key=lambda name: statistics.median(map(operator.truediv, ranked[name], best)))


def _ratio(key, samples, name, other):
    """Return the median over the rounds of one server's number to another's in the same round."""
    ratios = [
        mine[key] / theirs[key]
        for mine, theirs in zip(samples[name], samples.get(other, ()), strict=False)
        if mine[key] is not None and theirs[key]
    ]
    return statistics.median(ratios) if ratios else None


def _median(rounds, key):
    if key.endswith("_mb"):
        kib = _median(rounds, key.replace("_mb", "_kib"))
        return None if kib is None else kib / 1024
    values = [sample[key] for sample in rounds if sample.get(key) is not None]
    return statistics.median(values) if values else None


def _cell(form, value):
    return "-" if value is None else form.format(value)


def _row(cells):
    return f"| {' | '.join(cells)} |"


def _without_paths(spec):
    return [spec.program().name, *spec.command[1:]]


def _cpu_model():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _first_line(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return (done.stdout or done.stderr).strip().splitlines()[0]
