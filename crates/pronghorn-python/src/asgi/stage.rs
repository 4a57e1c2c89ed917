//! Which message of an application is legal when.

use std::fmt;

/// How far the response to a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Response {
    /// Nothing of it was sent.
    #[default]
    Fresh,
    /// Its start was sent, and waits for the first of its body.
    Started {
        /// Whether trailers follow the body.
        trailers: bool,
    },
    /// Some of its body was sent.
    Body {
        /// Whether trailers follow the body.
        trailers: bool,
    },
    /// All of its body was sent, and not all of its trailers.
    Trailers,
    /// All of it was sent.
    Complete,
}

/// The messages of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Status and headers.
    Start,
    /// A part of the body.
    Body,
    /// A part of a file as a part of the body.
    ZeroCopySend,
    /// A file as the body.
    PathSend,
    /// An informational response before it.
    EarlyHint,
    /// Trailers.
    Trailers,
    /// For tests of applications.
    Debug,
}

impl Response {
    /// # Errors
    /// Why `part` is not legal here.
    pub(crate) fn check(self, part: Part) -> Result<(), Illegal> {
        use Response::{Body, Complete, Fresh, Started, Trailers};
        match (part, self) {
            (_, Complete) => Err(Illegal("the response is complete")),
            (Part::Start | Part::Debug, Fresh) => Ok(()),
            (Part::Start, _) => Err(Illegal("the response was started before")),
            (Part::Debug, _) => Err(Illegal("it belongs before the start of the response")),
            (Part::EarlyHint, Fresh | Started { .. } | Body { .. }) => Ok(()),
            (Part::EarlyHint, Trailers) => Err(BODY_ENDED),
            (_, Fresh) => Err(Illegal("http.response.start has to come first")),
            (Part::Body | Part::ZeroCopySend, Started { .. } | Body { .. }) => Ok(()),
            (Part::PathSend, Started { .. }) => Ok(()),
            (Part::PathSend, Body { .. }) => Err(Illegal(
                "a file by its path is the whole body, and some of a body was sent before",
            )),
            (Part::Body | Part::ZeroCopySend | Part::PathSend, Trailers) => Err(BODY_ENDED),
            (Part::Trailers, Trailers) => Ok(()),
            (Part::Trailers, Started { trailers: true } | Body { trailers: true }) => Err(Illegal(
                "the body has not ended: send its last part with more_body False first",
            )),
            (Part::Trailers, Started { .. } | Body { .. }) => {
                Err(Illegal("http.response.start did not announce them with trailers True"))
            }
        }
    }

    /// What follows on a part of the body.
    pub(crate) fn after_body(self, more: bool) -> Self {
        match self {
            Response::Started { trailers } | Response::Body { trailers } if more => {
                Response::Body { trailers }
            }
            Response::Started { trailers: true } | Response::Body { trailers: true } => {
                Response::Trailers
            }
            _ => Response::Complete,
        }
    }

    /// What follows on trailers.
    pub(crate) fn after_trailers(more: bool) -> Self {
        if more { Response::Trailers } else { Response::Complete }
    }
}

/// How far a WebSocket is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum WebSocket {
    /// The application has not answered the handshake.
    #[default]
    Connecting,
    /// It has accepted.
    Open,
    /// It denies the handshake with a response of its own.
    Denying(Response),
    /// It has closed it, or knows that it is closed, with this code.
    Closed(u16),
}

/// The messages of a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Yes to the handshake.
    Accept,
    /// A message for the client.
    Send,
    /// The end, or no to the handshake.
    Close,
    /// A part of a response that says no to the handshake.
    Deny(Part),
}

impl WebSocket {
    /// # Errors
    /// Why `frame` is not legal here.
    pub(crate) fn check(self, frame: Frame) -> Result<(), Illegal> {
        match (frame, self) {
            (_, WebSocket::Closed(_)) => Err(Illegal("the application has closed the WebSocket")),
            (Frame::Accept | Frame::Close, WebSocket::Connecting) => Ok(()),
            (Frame::Accept, WebSocket::Open) => Err(Illegal("it was accepted before")),
            (Frame::Send | Frame::Close, WebSocket::Open) => Ok(()),
            (Frame::Send, WebSocket::Connecting) => {
                Err(Illegal("websocket.accept has to come first"))
            }
            (Frame::Deny(part), WebSocket::Connecting) => Self::check_denial(Response::Fresh, part),
            (Frame::Deny(part), WebSocket::Denying(response)) => Self::check_denial(response, part),
            (Frame::Deny(_), WebSocket::Open) => {
                Err(Illegal("the WebSocket was accepted before: websocket.close ends it"))
            }
            (_, WebSocket::Denying(_)) => {
                Err(Illegal("the application has begun to deny the WebSocket by a response"))
            }
        }
    }

    fn check_denial(response: Response, part: Part) -> Result<(), Illegal> {
        match response {
            Response::Fresh if part != Part::Start => {
                Err(Illegal("websocket.http.response.start has to come first"))
            }
            response => response.check(part),
        }
    }
}

/// Why a message is not legal where it came. Its text follows on the name of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Illegal(&'static str);

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

const BODY_ENDED: Illegal = Illegal("the body has ended");

#[cfg(test)]
mod tests {
    use super::*;

    type Parts = [(Part, bool)];

    fn walk(parts: &Parts, trailers: bool) -> Result<Response, Illegal> {
        parts.iter().try_fold(Response::default(), |response, (part, more)| {
            response.check(*part)?;
            Ok(match part {
                Part::Start => Response::Started { trailers },
                Part::Body | Part::ZeroCopySend => response.after_body(*more),
                Part::PathSend => response.after_body(false),
                Part::Trailers => Response::after_trailers(*more),
                Part::EarlyHint | Part::Debug => response,
            })
        })
    }

    #[test]
    fn responses_that_are_legal() {
        use Part::{Body, Debug, EarlyHint, PathSend, Start, Trailers, ZeroCopySend};
        let plain: [&Parts; 5] = [
            &[(Start, true), (Body, false)],
            &[(Debug, true), (Start, true), (EarlyHint, true), (Body, true), (Body, false)],
            &[(EarlyHint, true), (Start, true), (PathSend, false)],
            &[(Start, true), (ZeroCopySend, true), (Body, true), (ZeroCopySend, false)],
            &[(Start, true), (Body, true), (EarlyHint, true), (Body, false)],
        ];
        for parts in plain {
            assert_eq!(walk(parts, false), Ok(Response::Complete), "{parts:?}");
        }
        let announced: [&Parts; 2] = [
            &[(Start, true), (Body, true), (Body, false), (Trailers, true), (Trailers, false)],
            &[(Start, true), (PathSend, false), (Trailers, false)],
        ];
        for parts in announced {
            assert_eq!(walk(parts, true), Ok(Response::Complete), "{parts:?}");
        }
        assert_eq!(walk(&[(Start, true), (Body, false)], true), Ok(Response::Trailers));
    }

    #[test]
    fn messages_that_are_not() {
        use Part::{Body, Debug, EarlyHint, PathSend, Start, Trailers};
        let table: [(&Parts, bool, &str); 11] = [
            (&[(Body, false)], false, "start has to come first"),
            (&[(PathSend, false)], false, "start has to come first"),
            (&[(Trailers, false)], false, "start has to come first"),
            (&[(Start, true), (Start, true)], false, "started before"),
            (&[(Start, true), (Body, true), (Start, true)], false, "started before"),
            (&[(Start, true), (Body, false), (Body, false)], false, "is complete"),
            (&[(Start, true), (Body, false), (Start, true)], false, "is complete"),
            (&[(Start, true), (Body, true), (PathSend, false)], false, "whole body"),
            (&[(Start, true), (Body, true), (Trailers, false)], false, "did not announce"),
            (&[(Start, true), (Body, true), (Trailers, false)], true, "has not ended"),
            (&[(Start, true), (Body, false), (EarlyHint, false)], true, "has ended"),
        ];
        for (parts, trailers, text) in table {
            let error = walk(parts, trailers).expect_err(text).to_string();
            assert!(error.contains(text), "{parts:?}: {error}");
        }
        assert!(walk(&[(Start, true), (Debug, true)], false).is_err());
    }

    #[test]
    fn a_websocket_is_accepted_once_and_closed_once() {
        let (connecting, open) = (WebSocket::Connecting, WebSocket::Open);
        for frame in [Frame::Accept, Frame::Close, Frame::Deny(Part::Start)] {
            assert_eq!(connecting.check(frame), Ok(()), "{frame:?}");
        }
        for frame in [Frame::Send, Frame::Deny(Part::Body)] {
            assert!(connecting.check(frame).is_err(), "{frame:?}");
        }
        for frame in [Frame::Send, Frame::Close] {
            assert_eq!(open.check(frame), Ok(()), "{frame:?}");
        }
        for frame in [Frame::Accept, Frame::Deny(Part::Start), Frame::Deny(Part::Body)] {
            assert!(open.check(frame).is_err(), "{frame:?}");
        }
        for frame in [Frame::Accept, Frame::Send, Frame::Close, Frame::Deny(Part::Start)] {
            assert!(WebSocket::Closed(1000).check(frame).is_err(), "{frame:?}");
        }
    }

    #[test]
    fn a_denial_is_a_response() {
        let denying = WebSocket::Denying(Response::Started { trailers: false });
        assert_eq!(denying.check(Frame::Deny(Part::Body)), Ok(()));
        assert!(WebSocket::Denying(Response::Complete).check(Frame::Deny(Part::Body)).is_err());
        for frame in [Frame::Accept, Frame::Send, Frame::Close, Frame::Deny(Part::Start)] {
            assert!(denying.check(frame).is_err(), "{frame:?}");
        }
    }
}
