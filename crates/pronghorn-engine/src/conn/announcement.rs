//! The header of the PROXY protocol, with which a balancer says for whom it connects, before the first request.

use pronghorn_proto::proxy::{self, Announcement};
use pronghorn_proto::state::State;

use super::Token;
use super::read::Step;
use crate::address::Peer;
use crate::event_loop::EventLoop;
use crate::request::Request;

impl EventLoop {
    /// Goes on with a connection that has to begin with a header, of which `request` has what came so far.
    pub(super) fn read_announcement(&mut self, token: Token, request: Box<Request>) -> Step {
        let versions = self.config.proxies.protocol.unwrap_or(proxy::Versions::Either);
        match proxy::parse(&request.buffer, versions) {
            Ok(Some(announced)) => self.take_announcement(token, request, announced),
            Ok(None) => {
                self.count_as_head(token);
                self.head_incomplete(token, request)
            }
            Err(error) => {
                self.count_as_head(token);
                self.refused(token, request, error)
            }
        }
    }

    /// From here on the connection is its client's, for all that looks at its peer.
    fn take_announcement(
        &mut self,
        token: Token,
        mut request: Box<Request>,
        announced: Announcement,
    ) -> Step {
        let Some(conn) = self.conns.get(token) else { return Step::Left };
        conn.announces = false;
        conn.peer = announced.source.map_or(conn.peer, Peer::Inet);
        conn.state = State::new();
        request.buffer.drain(..announced.length);
        if request.buffer.is_empty() {
            let more = conn.noted.readable;
            self.pool.put(request);
            return if more { Step::More } else { Step::Wait };
        }
        self.head_started(token);
        self.parse(token, request)
    }

    /// What keeps a header from its end is answered as if it were a part of the head.
    fn count_as_head(&mut self, token: Token) {
        if self.conns.get(token).is_some_and(|conn| conn.state.is_idle()) {
            self.head_started(token);
        }
    }
}
