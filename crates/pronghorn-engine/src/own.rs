//! Answers that the server gives itself, without a thread of the application: is it ready, and what has it counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pronghorn_proto::encode::{
    BodyFraming, BodySize, RequestFacts, ResponseFields, ServerFields, plan, write_head,
};
use pronghorn_proto::head::{Method, RequestHead};
use pronghorn_proto::status::Status;

use crate::config::Config;
use crate::metrics::CONTENT_TYPE;

/// Where a listener for metrics has them.
const METRICS_PATH: &[u8] = b"/metrics";

/// What a request to the server itself is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Whether the server is ready.
    Health,
    /// What it has counted.
    Metrics,
    /// What there is not at a listener for metrics.
    Nothing,
}

/// Whether the health check fails, as said from outside.
#[derive(Clone, Debug, Default)]
pub(crate) struct Health(Arc<AtomicBool>);

/// A response of the server itself.
pub(crate) struct Answer {
    status: u16,
    content_type: &'static str,
    body: String,
    allows: bool,
}

impl Health {
    /// From now on the health check says no.
    pub(crate) fn fail(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_failing(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Asked {
    /// What a request asks the server itself, if it does. `for_metrics`: it came by a listener for metrics, which serves nothing
    /// else.
    pub(crate) fn of(
        config: &Config,
        head: &RequestHead,
        bytes: &[u8],
        for_metrics: bool,
    ) -> Option<Self> {
        let path = head.target.path.of(bytes);
        let is = |wanted: &Option<String>| {
            wanted.as_deref().is_some_and(|wanted| wanted.as_bytes() == path)
        };
        if is(&config.health) {
            Some(Asked::Health)
        } else if is(&config.metrics_path) || (for_metrics && path == METRICS_PATH) {
            Some(Asked::Metrics)
        } else {
            for_metrics.then_some(Asked::Nothing)
        }
    }

    /// The answer. `unready` says why the server is not ready, if it is not.
    pub(crate) fn answer(
        self,
        config: &Config,
        method: Method,
        unready: Option<&'static str>,
    ) -> Answer {
        let plain = |status, body: &str| Answer {
            status,
            content_type: "text/plain; charset=utf-8",
            body: format!("{body}\n"),
            allows: false,
        };
        match self {
            Asked::Nothing => plain(404, "Only metrics are served at this address."),
            _ if !matches!(method, Method::Get | Method::Head) => {
                Answer { allows: true, ..plain(405, "Only GET and HEAD are answered here.") }
            }
            Asked::Health => match unready {
                None => plain(200, "ok"),
                Some(why) => plain(503, why),
            },
            Asked::Metrics => Answer {
                status: 200,
                content_type: CONTENT_TYPE,
                body: config.metrics.as_ref().map(|metrics| metrics.text()).unwrap_or_default(),
                allows: false,
            },
        }
    }
}

impl Answer {
    /// The bytes of the response.
    pub(crate) fn encode(&self, request: &RequestFacts, server: &ServerFields<'_>) -> Vec<u8> {
        let fields = self.fields();
        let plan = plan(*request, self.status, &fields, BodySize::Known(self.body.len() as u64));
        let reason = Status::new(self.status).map_or("", Status::reason);
        let mut out = Vec::new();
        write_head(&mut out, self.status, reason.as_bytes(), &fields, &plan, request, server);
        if plan.framing != BodyFraming::None {
            out.extend_from_slice(self.body.as_bytes());
        }
        out
    }

    fn fields(&self) -> ResponseFields {
        let mut fields = ResponseFields::default();
        let allow = self.allows.then_some(("Allow", "GET, HEAD"));
        let always = [("Content-Type", self.content_type), ("Cache-Control", "no-store")];
        for (name, value) in always.into_iter().chain(allow) {
            // Our own names and values are valid.
            let _ = fields.push(name.as_bytes(), value.as_bytes());
        }
        fields
    }
}
