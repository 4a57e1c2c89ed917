"""What is read from the WebSocket load generator and the probes, and how several numbers are compared."""

import argparse
import unittest

import blocked
import load
import report
import run
import websocket
import workloads
from asgi_servers import ALL_WORKLOADS, ECHO_WORKLOADS
from servers import all_servers
from spec import ServerSpec


class GeneratorReport(unittest.TestCase):
    def test_each_line_is_a_name_and_a_number(self):
        read = websocket.parse("messages 3\nrate 1.5\np50_ms 0.250\n")
        self.assertEqual(read, {"messages": 3, "rate": 1.5, "p50_ms": 0.25})

    def test_anything_else_is_an_error(self):
        for text in ("messages three\n", "no report at all\n"):
            with self.subTest(text), self.assertRaises(load.LoadError):
                websocket.parse(text)


class BlockedProbes(unittest.TestCase):
    def test_the_delay_is_that_of_the_probe_that_suffers_most(self):
        calm = {"health": 1.0, "metrics": 2.0, "head": 3.0}
        numbers = blocked.summary(calm, {"health": 1.5, "metrics": 9.0, "head": 8.0})
        self.assertEqual((numbers["delay_ms"], numbers["metrics_ms"], numbers["metrics_ms_blocked"]), (7.0, 2.0, 9.0))


class Table(unittest.TestCase):
    SPECS = [
        ServerSpec("floor-websocket", 0, ("floor",)),
        ServerSpec("ours", 0, ("ours",)),
        ServerSpec("quick", 0, ("quick",), "quick"),
        ServerSpec("thrifty", 0, ("thrifty",), "thrifty"),
    ]

    def test_messages_and_processor_time_are_each_compared_with_the_best_peer_at_it(self):
        numbers = {"floor-websocket": (900, 1), "ours": (600, 3), "quick": (400, 6), "thrifty": (300, 4)}
        samples = {name: [{"rate": rate, "cpu_us": cpu}] for name, (rate, cpu) in numbers.items()}
        heading, _, _, ours, *_ = report.table("ws-echo-32", self.SPECS, samples).splitlines()
        self.assertIn("x quick (rate) | x floor-websocket (cpu) | x thrifty (cpu)", heading)
        self.assertTrue(ours.endswith("| 1.50 | 3.00 | 0.75 |"), ours)


class Names(unittest.TestCase):
    def test_every_workload_is_compared_and_in_one_group(self):
        self.assertEqual(set(report.COMPARED), set(workloads.WORKLOADS))
        self.assertEqual(set(report.ECHOES), ECHO_WORKLOADS)
        grouped = [name for group in workloads.GROUPS.values() for name in group]
        self.assertEqual(sorted(grouped), sorted(workloads.WORKLOADS))

    def test_servers_ask_only_for_workloads_that_there_are(self):
        named = ALL_WORKLOADS.union(*(spec.workloads for spec in all_servers()))
        self.assertEqual(named, set(workloads.WORKLOADS))

    def test_a_group_stands_for_its_workloads(self):
        choose = run._chosen_from(["a", "b", "c"], {"both": ["a", "b"]})
        self.assertEqual(choose("both,c"), ["a", "b", "c"])
        with self.assertRaises(argparse.ArgumentTypeError):
            choose("both,d")


if __name__ == "__main__":
    unittest.main()
