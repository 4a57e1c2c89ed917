//! What client and server agree on (RFC 7692 section 7.1).

/// What this server wants of permessage-deflate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether messages of the server refer to those before them, which makes small ones smaller and
    /// takes 380 KB a connection. Off, the answer says `server_no_context_takeover`, offered or not.
    pub server_takeover: bool,
    /// Whether those of the client may, for 47 KB a connection. Off, the answer says
    /// `client_no_context_takeover`, offered or not.
    pub client_takeover: bool,
    /// The largest window of the server, as a power of two from 9 to 15.
    pub server_window_bits: u8,
    /// The largest window of the client, if it lets itself be told.
    pub client_window_bits: u8,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            server_takeover: false,
            client_takeover: false,
            server_window_bits: LARGEST,
            client_window_bits: LARGEST,
        }
    }
}

/// What was agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreement {
    /// Whether messages of the server refer to those before them.
    pub server_takeover: bool,
    /// Whether messages of the client may.
    pub client_takeover: bool,
    /// What the answer says of the server's window.
    server_max_window_bits: Option<u8>,
    /// What the answer says of the client's window.
    client_max_window_bits: Option<u8>,
}

/// A parameter of an offer: its name and value.
pub type Param<'a> = (&'a [u8], Option<&'a [u8]>);

impl Agreement {
    /// The window of the server.
    pub fn server_window_bits(&self) -> u8 {
        self.server_max_window_bits.unwrap_or(LARGEST)
    }

    /// The window to inflate with: not smaller than the client's.
    pub fn client_window_bits(&self) -> u8 {
        self.client_max_window_bits.unwrap_or(LARGEST).max(SMALLEST)
    }

    /// Accepts an offer with `params`; `None` declines it: a parameter is unknown, repeated or has
    /// a value it may not have, or it wants a window of 256 bytes, which deflating cannot make.
    pub fn accept<'a>(
        params: impl Iterator<Item = Param<'a>>,
        options: &Options,
    ) -> Option<Agreement> {
        let offer = Offer::read(params)?;
        let server_bits = offer.server_bits.map_or(options.server_window_bits, |bits| {
            // Less than it can do is what the server is asked for.
            bits.min(options.server_window_bits)
        });
        if server_bits < SMALLEST {
            return None;
        }
        let client_bits = offer.client_bits.map(|bits| bits.min(options.client_window_bits));
        let tell_server_bits = offer.server_bits.is_some() || server_bits < LARGEST;
        Some(Agreement {
            server_takeover: options.server_takeover && !offer.server_no_takeover,
            client_takeover: options.client_takeover && !offer.client_no_takeover,
            server_max_window_bits: tell_server_bits.then_some(server_bits),
            client_max_window_bits: client_bits.filter(|&bits| bits < LARGEST),
        })
    }

    /// Appends the value of Sec-WebSocket-Extensions that accepts the offer.
    pub(in crate::websocket) fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(NAME);
        if !self.server_takeover {
            out.extend_from_slice(b"; server_no_context_takeover");
        }
        if !self.client_takeover {
            out.extend_from_slice(b"; client_no_context_takeover");
        }
        if let Some(bits) = self.server_max_window_bits {
            out.extend_from_slice(format!("; server_max_window_bits={bits}").as_bytes());
        }
        if let Some(bits) = self.client_max_window_bits {
            out.extend_from_slice(format!("; client_max_window_bits={bits}").as_bytes());
        }
    }
}

/// The name of the extension.
pub(in crate::websocket) const NAME: &[u8] = b"permessage-deflate";

/// What a client offers.
#[derive(Default)]
struct Offer {
    server_no_takeover: bool,
    client_no_takeover: bool,
    server_bits: Option<u8>,
    /// The largest if the client leaves it to the server.
    client_bits: Option<u8>,
}

impl Offer {
    fn read<'a>(params: impl Iterator<Item = Param<'a>>) -> Option<Offer> {
        let mut offer = Offer::default();
        for param in params {
            let first = match param {
                (b"server_no_context_takeover", None) => set(&mut offer.server_no_takeover),
                (b"client_no_context_takeover", None) => set(&mut offer.client_no_takeover),
                (b"server_max_window_bits", Some(bits)) => {
                    offer.server_bits.replace(window_bits(bits)?).is_none()
                }
                (b"client_max_window_bits", bits) => {
                    let bits = bits.map_or(Some(LARGEST), window_bits)?;
                    offer.client_bits.replace(bits).is_none()
                }
                _ => return None,
            };
            if !first {
                return None;
            }
        }
        Some(offer)
    }
}

/// Sets `flag`, and tells whether it was not set before.
fn set(flag: &mut bool) -> bool {
    !core::mem::replace(flag, true)
}

/// 8 to 15, in decimal without leading zeros.
fn window_bits(value: &[u8]) -> Option<u8> {
    match *value {
        [digit @ b'8'..=b'9'] => Some(digit - b'0'),
        [b'1', digit @ b'0'..=b'5'] => Some(10 + digit - b'0'),
        _ => None,
    }
}

const LARGEST: u8 = 15;

/// zlib makes no smaller window.
const SMALLEST: u8 = 9;
