#!/usr/bin/env python3
"""Compares Pronghorn with its peers and with the least a server can do. See README.md beside this file.

Servers are measured in turn, round after round, each freshly started, so that what else the machine does in a minute
falls on all of them alike.
"""

import argparse
import sys
import tempfile

import install
import report
from load import LoadError
from measuring import ColdWorkload, WrongAnswer
from process import NotReady, Server, free_port, priority
from servers import all_servers
from spec import BENCH
from workloads import GROUPS, WORKLOADS


def main():
    """Install, build, measure and report what the command line asks for."""
    options = _parse_options()
    install.check_tools()
    specs = [spec for spec in all_servers() if _is_chosen(spec, options)]
    install.build_programs(specs)
    install.install(specs)
    specs = [spec for spec in specs if _is_there(spec)]
    with priority(options.nice):
        for workload in options.workload:
            run(workload, specs, options)


def run(workload, specs, options):
    """Measure one workload, print its table and keep its numbers."""
    samples = measure(workload, specs, options.rounds, options.seconds)
    print(f"\n## {workload}\n\n{report.table(workload, specs, samples)}\n", flush=True)
    if not options.no_save:
        settings = {"rounds": options.rounds, "seconds": options.seconds, "nice": options.nice}
        print(f"raw numbers: bench/results/{report.save(workload, specs, samples, settings).name}", flush=True)


def measure(workload, specs, rounds, seconds):
    """Return {server: [a dict of numbers for each round]}; a server that fails is told of and left out."""
    running = [spec for spec in specs if workload in spec.workloads]
    samples = {spec.name: [] for spec in running}
    for number in range(1, rounds + 1):
        for spec in list(running):
            try:
                sample = measure_once(WORKLOADS[workload], spec, seconds)
            except (NotReady, WrongAnswer, LoadError, OSError) as error:
                _tell(f"{spec.name} left out of {workload}: {error}")
                running.remove(spec)
                continue
            samples[spec.name].append(sample)
            _tell(f"{workload} {number}/{rounds} {spec.name}: {_summary(sample)}")
    return samples


def measure_once(workload, spec, seconds):
    """Start one server, check its answer, measure it for `seconds` and stop it."""
    if isinstance(workload, ColdWorkload):
        return workload.measure(spec, workload.app, seconds)
    port = free_port()
    with tempfile.TemporaryFile() as output:
        command = spec.argv(workload.app, port)
        with Server(command, port, spec.environment, BENCH / "apps", output) as server:
            workload.check(port)
            return workload.measure(server, seconds)


def _is_chosen(spec, options):
    return spec.name in options.servers and not spec.workloads.isdisjoint(options.workload)


def _is_there(spec):
    if spec.program().exists():
        return True
    _tell(f"{spec.name} skipped: {spec.program().name} is not there")
    return False


def _summary(sample):
    shown = (
        "start_ms",
        "rate",
        "p99_ms",
        "p99_ms_rolling",
        "cpu_us",
        "bytes_each",
        "server_bytes",
        "delay_ms",
        "pss_kib",
    )
    return ", ".join(f"{key} {sample[key]:,.2f}" for key in shown if sample.get(key) is not None)


def _tell(message):
    print(f"bench: {message}", file=sys.stderr, flush=True)


def _parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    servers = [spec.name for spec in all_servers()]
    for option, names, groups in (("--workload", list(WORKLOADS), GROUPS), ("--servers", servers, {})):
        help_text = f"some of {','.join([*groups, *names])}; default: all"
        parser.add_argument(option, type=_chosen_from(names, groups), default=names, metavar="A,B", help=help_text)
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    parser.add_argument("--seconds", type=int, default=5, help="of load for a server in a round; default: 5")
    parser.add_argument("--nice", type=int, default=0, help="priority of servers and load, from -20; default: 0")
    parser.add_argument("--quick", action="store_true", help="one round of 2 seconds, nothing saved: does all work?")
    parser.add_argument("--no-save", action="store_true", help="do not write to results/")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds, options.no_save = 1, 2, True
    return options


def _chosen_from(known, groups):
    def parse(text):
        words = [word for word in text.split(",") if word]
        names = [name for word in words for name in groups.get(word, [word])]
        unknown = [name for name in names if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"no {', '.join(unknown)}: choose from {', '.join([*groups, *known])}")
        return names

    return parse


if __name__ == "__main__":
    main()
