//! The words that settings of ASGI take.

use super::words::Words;

/// How an application is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterfaceChoice {
    /// As it looks.
    Auto,
    /// As PEP 3333 says.
    Wsgi,
    /// As ASGI says, in the version that it looks like.
    Asgi,
    /// ASGI 3: one call, with scope, receive and send.
    Asgi3,
    /// ASGI 2: a call with scope, and one of what that gives with receive and send.
    Asgi2,
}

impl Words for InterfaceChoice {
    const ALL: &'static [(&'static str, Self)] = &[
        ("auto", Self::Auto),
        ("wsgi", Self::Wsgi),
        ("asgi", Self::Asgi),
        ("asgi3", Self::Asgi3),
        ("asgi2", Self::Asgi2),
    ];
}

/// The event loop of ASGI applications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopChoice {
    /// uvloop where it is installed.
    Auto,
    /// Python's own.
    Asyncio,
    /// uvloop, which has to be installed.
    Uvloop,
}

impl Words for LoopChoice {
    const ALL: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("asyncio", Self::Asyncio), ("uvloop", Self::Uvloop)];
}

/// Whether the lifespan protocol is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LifespanChoice {
    /// If the application knows it.
    Auto,
    /// The application has to know it.
    On,
    /// Never.
    Off,
}

impl Words for LifespanChoice {
    const ALL: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("on", Self::On), ("off", Self::Off)];
}

/// How streams learn of a graceful stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrainChoice {
    /// `receive` says that the client has gone.
    Disconnect,
    /// lifespan.shutdown comes at the begin of the stop.
    Lifespan,
    /// Not at all.
    Off,
}

impl Words for DrainChoice {
    const ALL: &'static [(&'static str, Self)] =
        &[("disconnect", Self::Disconnect), ("lifespan", Self::Lifespan), ("off", Self::Off)];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_a_choice() {
        assert_eq!(LoopChoice::read("uvloop"), Ok(LoopChoice::Uvloop));
        assert_eq!(InterfaceChoice::read("ASGI3"), Ok(InterfaceChoice::Asgi3));
        assert_eq!(DrainChoice::read("off"), Ok(DrainChoice::Off));
    }

    #[test]
    fn another_word_is_explained() {
        let reason = |text| LifespanChoice::read(text).expect_err("no choice");
        assert_eq!(reason("true"), "expected one of auto, on, off");
        let reason = LoopChoice::read("uvlop").expect_err("no choice");
        assert_eq!(reason, "expected one of auto, asyncio, uvloop. Did you mean uvloop?");
    }
}
