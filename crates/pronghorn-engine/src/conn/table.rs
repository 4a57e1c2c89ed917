//! The connection table: slots that stay where they are, found by index and checked by generation.

use super::Conn;

/// Names a connection: its slot and which of the slot's connections it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) index: u32,
    pub(crate) generation: u32,
}

/// Slots are made this many at a time, so that growing copies nothing and takes no more than it needs.
const BLOCK: usize = 256;

/// All connections.
#[derive(Default)]
pub(crate) struct Table {
    blocks: Vec<Vec<Slot>>,
    free: Vec<u32>,
    used: usize,
}

struct Slot {
    generation: u32,
    conn: Option<Conn>,
}

impl Token {
    pub(crate) fn to_u64(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    pub(crate) fn from_u64(token: u64) -> Self {
        Token { index: token as u32, generation: (token >> 32) as u32 }
    }
}

impl Table {
    /// How many connections there are.
    pub(crate) fn len(&self) -> usize {
        self.used
    }

    /// Takes a connection in; the last slot freed is the first used again.
    pub(crate) fn insert(&mut self, conn: Conn) -> Token {
        if self.free.is_empty() {
            self.grow();
        }
        let index = self.free.pop().unwrap_or_default();
        let slot = &mut self.blocks[index as usize / BLOCK][index as usize % BLOCK];
        slot.conn = Some(conn);
        self.used += 1;
        Token { index, generation: slot.generation }
    }

    /// The connection, unless it is closed by now.
    pub(crate) fn get(&mut self, token: Token) -> Option<&mut Conn> {
        let slot = self.slot(token.index)?;
        if slot.generation == token.generation { slot.conn.as_mut() } else { None }
    }

    /// The listener that the connection came in by, unless it is closed by now.
    pub(crate) fn listener_of(&self, token: Token) -> Option<u16> {
        let slot =
            self.blocks.get(token.index as usize / BLOCK)?.get(token.index as usize % BLOCK)?;
        let conn = slot.conn.as_ref().filter(|_| slot.generation == token.generation)?;
        Some(conn.listener)
    }

    /// Takes the connection out; its token is never valid again.
    pub(crate) fn remove(&mut self, token: Token) -> Option<Conn> {
        let slot = self.slot(token.index)?;
        if slot.generation != token.generation {
            return None;
        }
        let conn = slot.conn.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(token.index);
        self.used -= 1;
        Some(conn)
    }

    /// The connections for which `wanted` holds.
    pub(crate) fn tokens(&self, wanted: impl Fn(&Conn) -> bool) -> Vec<Token> {
        let slots = self.blocks.iter().flatten().enumerate();
        slots
            .filter(|(_, slot)| slot.conn.as_ref().is_some_and(&wanted))
            .map(|(index, slot)| Token { index: index as u32, generation: slot.generation })
            .collect()
    }

    fn slot(&mut self, index: u32) -> Option<&mut Slot> {
        self.blocks.get_mut(index as usize / BLOCK)?.get_mut(index as usize % BLOCK)
    }

    fn grow(&mut self) {
        let first = (self.blocks.len() * BLOCK) as u32;
        self.blocks.push((0..BLOCK).map(|_| Slot { generation: 0, conn: None }).collect());
        self.free.extend((first..first + BLOCK as u32).rev());
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    use super::*;
    use crate::address::Peer;

    fn conn() -> Conn {
        let (socket, _) = UnixStream::pair().expect("a socket pair");
        Conn::new(OwnedFd::from(socket), Peer::Unix, 0)
    }

    #[test]
    fn a_token_of_a_closed_connection_finds_nothing_in_the_reused_slot() {
        let mut table = Table::default();
        let first = table.insert(conn());
        assert!(table.get(first).is_some());
        assert!(table.remove(first).is_some());
        let second = table.insert(conn());
        assert_eq!(second.index, first.index);
        assert!(table.get(first).is_none() && table.remove(first).is_none());
        assert!(table.get(second).is_some());
        assert_eq!(Token::from_u64(second.to_u64()), second);
        assert_eq!(table.len(), 1);
    }

    #[test]
    fn slots_hold_more_than_one_block() {
        let mut table = Table::default();
        let tokens: Vec<_> = (0..600).map(|_| table.insert(conn())).collect();
        assert_eq!(table.tokens(Conn::is_idle), tokens);
        for token in &tokens {
            assert!(table.remove(*token).is_some());
        }
        assert_eq!(table.len(), 0);
    }

    #[test]
    fn an_idle_connection_takes_little() {
        assert!(size_of::<Slot>() <= 112, "{}", size_of::<Slot>());
    }
}
