//! The metrics as Prometheus reads them: the text format, version 0.0.4.

use std::fmt::Write as _;

use super::block::{self, Place};
use super::board::Sum;
use super::histogram::{BOUNDS, SUM};
use crate::sys;

/// The content type of the text.
pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The text of all metrics. Writing into memory does not fail.
pub(super) fn render(sum: &Sum) -> String {
    let mut text = Text { out: String::with_capacity(16 << 10), sum };
    text.requests();
    text.histogram(
        "request_duration_seconds",
        "Time from a request's entry into the run queue to the end of its handler.",
        block::DURATION,
    );
    text.histogram(
        "request_queue_seconds",
        "Time that requests waited in the run queue.",
        block::QUEUE,
    );
    text.gauge("requests_in_flight", "Requests that are not answered in full yet.", in_flight(sum));
    text.gauge("requests_queued", "Requests in the run queue.", sum.cells[block::QUEUED.first]);
    text.counters(
        "requests_shed_total",
        "Requests not run.",
        "reason",
        block::SHED,
        &block::SHED_NAMES,
    );
    let help = "Deadlines that passed.";
    text.counters("timeouts_total", help, "kind", block::TIMEOUTS, &block::TIMEOUT_NAMES);
    let help = "Requests that run (busy), and how many more may (idle).";
    text.gauges("threads", help, "state", block::THREADS, &block::THREAD_NAMES);
    text.counter(
        "promotions_total",
        "Followers that took over events from a leader in a long call.",
        block::PROMOTIONS,
    );
    text.histogram(
        "interpreter_wait_seconds",
        "Time that threads waited for the interpreter's lock.",
        block::INTERPRETER,
    );
    text.histogram(
        "loop_lag_seconds",
        "Time between two polls in which no thread looked at events.",
        block::LAG,
    );
    text.connections();
    text.counter("received_bytes_total", "Bytes received from clients.", block::RECEIVED);
    text.counter("sent_bytes_total", "Bytes sent to clients.", block::SENT);
    text.counter(
        "access_log_dropped_lines_total",
        "Lines of the access log that were lost.",
        block::LOG_DROPPED,
    );
    text.processes();
    text.out
}

fn in_flight(sum: &Sum) -> u64 {
    let connections = block::CONNECTIONS;
    sum.cells[connections.at(2)].wrapping_add(sum.cells[connections.at(3)])
}

struct Text<'a> {
    out: String,
    sum: &'a Sum,
}

impl Text<'_> {
    fn requests(&mut self) {
        let name = "requests_total";
        self.head(name, "Requests answered, by method and class of status.", "counter");
        let counts = self.cells(block::REQUESTS).chunks(block::CLASSES.len());
        for (method, counts) in block::METHODS.iter().zip(counts) {
            for (class, count) in block::CLASSES.iter().zip(counts) {
                let labels = format!("method=\"{method}\",status=\"{class}\"");
                sample(&mut self.out, name, &labels, count);
            }
        }
    }

    fn connections(&mut self) {
        let help = "Connections accepted.";
        self.counter("connections_accepted_total", help, block::ACCEPTED);
        let help = "Open connections.";
        self.gauges("connections", help, "state", block::CONNECTIONS, &block::CONNECTION_NAMES);
    }

    fn processes(&mut self) {
        self.workers_by_state();
        self.counters(
            "worker_restarts_total",
            "Workers that were started in the place of others.",
            "reason",
            block::RESTARTS,
            &block::RESTART_NAMES,
        );
        let name = "worker_resident_memory_bytes";
        self.head(name, "Resident memory of each worker.", "gauge");
        for worker in &self.sum.workers {
            if let Some(bytes) = sys::resident_bytes(worker.process) {
                let labels = format!("worker=\"{}\"", worker.index.number());
                sample(&mut self.out, name, &labels, bytes);
            }
        }
        if let Some(bytes) = sys::resident_bytes(self.sum.supervisor) {
            let help = "Resident memory of the supervisor.";
            self.gauge("supervisor_resident_memory_bytes", help, bytes);
        }
        let name = "build_info";
        self.head(name, "The version of the server.", "gauge");
        let labels = concat!("version=\"", env!("CARGO_PKG_VERSION"), "\"");
        sample(&mut self.out, name, labels, 1);
    }

    fn workers_by_state(&mut self) {
        let name = "workers";
        self.head(name, "Workers, by what they do.", "gauge");
        for (at, state) in (1..).zip(block::WORKER_STATE_NAMES) {
            let count = self.sum.workers.iter().filter(|worker| worker.state == at).count();
            sample(&mut self.out, name, &format!("state=\"{state}\""), count);
        }
    }

    fn counter(&mut self, name: &str, help: &str, place: Place) {
        self.head(name, help, "counter");
        sample(&mut self.out, name, "", self.sum.cells[place.first]);
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.head(name, help, "gauge");
        sample(&mut self.out, name, "", value);
    }

    fn counters(&mut self, name: &str, help: &str, label: &str, place: Place, values: &[&str]) {
        self.head(name, help, "counter");
        self.labelled(name, label, place, values);
    }

    fn gauges(&mut self, name: &str, help: &str, label: &str, place: Place, values: &[&str]) {
        self.head(name, help, "gauge");
        self.labelled(name, label, place, values);
    }

    fn labelled(&mut self, name: &str, label: &str, place: Place, values: &[&str]) {
        for (value, number) in values.iter().zip(self.cells(place)) {
            sample(&mut self.out, name, &format!("{label}=\"{value}\""), number);
        }
    }

    fn histogram(&mut self, name: &str, help: &str, place: Place) {
        self.head(name, help, "histogram");
        let cells = self.cells(place);
        let bucket = format!("{name}_bucket");
        let bounds = BOUNDS.iter().map(|(_, bound)| *bound).chain(["+Inf"]);
        let mut count = 0;
        for (bound, number) in bounds.zip(cells) {
            count += number;
            sample(&mut self.out, &bucket, &format!("le=\"{bound}\""), count);
        }
        let micros = cells[SUM];
        let seconds = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
        sample(&mut self.out, &format!("{name}_sum"), "", seconds);
        sample(&mut self.out, &format!("{name}_count"), "", count);
    }

    fn head(&mut self, name: &str, help: &str, kind: &str) {
        let _ = write!(self.out, "# HELP {PREFIX}{name} {help}\n# TYPE {PREFIX}{name} {kind}\n");
    }
}

impl<'a> Text<'a> {
    fn cells(&self, place: Place) -> &'a [u64] {
        &self.sum.cells[place.first..][..place.count]
    }
}

fn sample(out: &mut String, name: &str, labels: &str, value: impl std::fmt::Display) {
    let _ = match labels {
        "" => writeln!(out, "{PREFIX}{name} {value}"),
        _ => writeln!(out, "{PREFIX}{name}{{{labels}}} {value}"),
    };
}

const PREFIX: &str = "pronghorn_";

#[cfg(test)]
mod tests {
    use pronghorn_proto::head::Method;

    use super::super::Answered;
    use super::super::board::Board;

    fn text_after(count: impl FnOnce(&super::super::Metrics)) -> String {
        let board = Board::new(1).expect("memory");
        let metrics = board.block(board.claim(0).expect("a block"));
        count(&metrics);
        metrics.text()
    }

    fn value<'a>(text: &'a str, sample: &str) -> &'a str {
        let found = text.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
        found.unwrap_or_else(|| panic!("{sample} is not in {text}"))
    }

    #[test]
    fn a_request_is_where_it_belongs() {
        let answered =
            Answered { method: Method::Put, status: 404, sent: 70, times: Some((300, 1_500_000)) };
        let text = text_after(|metrics| metrics.answered(&answered));
        for (sample, expected) in [
            ("pronghorn_requests_total{method=\"PUT\",status=\"4xx\"}", "1"),
            ("pronghorn_requests_total{method=\"GET\",status=\"4xx\"}", "0"),
            ("pronghorn_request_duration_seconds_bucket{le=\"1\"}", "0"),
            ("pronghorn_request_duration_seconds_bucket{le=\"2.5\"}", "1"),
            ("pronghorn_request_duration_seconds_bucket{le=\"+Inf\"}", "1"),
            ("pronghorn_request_duration_seconds_sum", "1.500000"),
            ("pronghorn_request_queue_seconds_bucket{le=\"0.0005\"}", "1"),
            ("pronghorn_request_queue_seconds_count", "1"),
            ("pronghorn_sent_bytes_total", "70"),
            ("pronghorn_workers{state=\"starting\"}", "1"),
        ] {
            assert_eq!(value(&text, sample), expected, "{sample}");
        }
        let resident = value(&text, "pronghorn_worker_resident_memory_bytes{worker=\"0\"}");
        assert!(resident.parse::<u64>().expect("a number") > 100_000);
    }

    #[test]
    fn every_family_says_once_what_it_is() {
        let text = text_after(|_| ());
        let mut families: Vec<_> =
            text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
        let count = families.len();
        families.sort_unstable();
        families.dedup_by_key(|line| line.split(' ').next());
        assert_eq!((families.len(), text.matches("# HELP ").count()), (count, count));
    }
}
