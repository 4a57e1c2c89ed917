"""The readings of wrk's and ab's reports, on reports as the programs print them."""

import unittest

import load

WRK = """Running 2s test @ http://127.0.0.1:7997/
  1 threads and 32 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    50.50ms   77.85ms 301.88ms   82.88%
    Req/Sec     7.82k     9.73k   27.11k    76.92%
  Latency Distribution
     50%  774.31us
     75%   82.31ms
     90%    1.28s{space}
     99%    1.79s{space}
  10240 requests in 2.01s, 1.00MB read
{errors}Requests/sec:   5106.26
Transfer/sec:    508.63KB
{script}"""

AB = """Time taken for tests:   3.001 seconds
Complete requests:      63413
Failed requests:        {failed}
{other}Requests per second:    21130.59 [#/sec] (mean)
"""
PERCENTILES = "Percentage served,Time in ms\n0,0.5\n50,4.661\n99,6.25\n100,9.0\n"


def wrk_report(errors="", script=""):
    return WRK.format(space=" ", errors=errors, script=script)


class WrkReport(unittest.TestCase):
    def test_latencies_are_milliseconds_whatever_their_unit(self):
        read = load.parse_wrk(wrk_report(), 0.5)
        self.assertAlmostEqual(read.p50_ms, 0.77431)
        self.assertAlmostEqual(read.p99_ms, 1790)
        self.assertEqual((read.requests, read.rate, read.generator_busy), (10240, 5106.26, 0.5))

    def test_a_script_adds_the_size_of_the_replies(self):
        self.assertEqual(load.parse_wrk(wrk_report(script="Bytes per reply: 102500\n"), 0.5).bytes_per_reply, 102500)
        self.assertIsNone(load.parse_wrk(wrk_report(), 0.5).bytes_per_reply)

    def test_failed_replies_are_an_error(self):
        for errors in (
            "  Non-2xx or 3xx responses: 7\n",
            "  Socket errors: connect 1, read 0, write 0, timeout 0\n",
            "  Socket errors: connect 0, read 0, write 0, timeout 3\n",
        ):
            with self.subTest(errors), self.assertRaises(load.LoadError):
                load.parse_wrk(wrk_report(errors), 0.5)

    def test_connections_the_server_closed_between_requests_are_no_error(self):
        errors = "  Socket errors: connect 0, read 5, write 0, timeout 0\n"
        self.assertEqual(load.parse_wrk(wrk_report(errors), 0.5).requests, 10240)

    def test_no_answer_at_all_is_an_error(self):
        with self.assertRaises(load.LoadError):
            load.parse_wrk(wrk_report().replace("10240 requests", "0 requests"), 0.5)


class AbReport(unittest.TestCase):
    def test_percentiles_come_from_the_file(self):
        read = load.parse_ab(AB.format(failed=0, other=""), PERCENTILES, 0.5)
        self.assertEqual((read.requests, read.rate, read.p50_ms, read.p99_ms), (63413, 21130.59, 4.661, 6.25))

    def test_failed_requests_are_an_error(self):
        for failed, other in ((1, ""), (0, "Non-2xx responses:      4\n")):
            with self.subTest(failed=failed, other=other), self.assertRaises(load.LoadError):
                load.parse_ab(AB.format(failed=failed, other=other), PERCENTILES, 0.5)


if __name__ == "__main__":
    unittest.main()
