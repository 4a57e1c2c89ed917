//! The chunked transfer coding (RFC 9112 section 7.1), decoded byte by byte where it is grammar
//! and slice by slice where it is data.

use crate::error::Error;
use crate::field;
use crate::limits::Limits;
use crate::percent::hex_digit;
use crate::trailer::TrailerParser;

/// Decodes one chunked body. Between two calls it keeps counters and a state, never input.
#[derive(Clone, Debug)]
pub struct ChunkDecoder {
    state: State,
    /// Bytes of the current chunk still to come; while its size is read, the size so far.
    size: u64,
    /// Body bytes that may still be announced.
    body_left: u64,
    /// Bytes of chunk extensions that may still come.
    extensions_left: usize,
    trailers: TrailerParser,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The grammar around the data.
    Framing(Part),
    /// The data of a chunk.
    Data,
    /// Nothing any more: the body is complete.
    Complete,
}

/// Where in the grammar around the data the next byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// The chunk size, after so many digits.
    Size(u8),
    /// After the size, in white space or an extension.
    Extension(Extension),
    /// The LF of the line with the size.
    SizeLf,
    /// The CR after the data.
    DataCr,
    /// The LF after the data.
    DataLf,
    /// The trailer section after the last chunk.
    Trailers,
}

/// Where in `*( BWS ";" BWS name [ BWS "=" BWS value ] )` the next byte is (section 7.1.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extension {
    /// White space, after which `;` or the end of the line comes.
    End,
    /// White space before a name.
    BeforeName,
    Name,
    /// White space after a name.
    AfterName,
    /// White space before a value.
    BeforeValue,
    Token,
    Quoted,
    /// After a backslash in a quoted value.
    Escaped,
}

impl ChunkDecoder {
    /// A decoder at the start of a body.
    pub fn new(limits: &Limits) -> ChunkDecoder {
        ChunkDecoder {
            state: State::Framing(Part::Size(0)),
            size: 0,
            body_left: limits.body,
            extensions_left: limits.chunk_extensions,
            trailers: TrailerParser::new(limits.trailers),
        }
    }

    /// Whether the last chunk and the trailers have been received.
    pub fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// Takes `input` up to the end of the body, gives chunk data to `sink`, and returns how much
    /// of `input` belonged to the body.
    pub fn decode(&mut self, input: &[u8], sink: &mut dyn FnMut(&[u8])) -> Result<usize, Error> {
        let mut at = 0;
        while at < input.len() {
            at += match self.state {
                State::Complete => break,
                State::Data => self.take_data(&input[at..], sink),
                State::Framing(part) => {
                    self.state = self.step(part, input[at])?;
                    1
                }
            };
        }
        Ok(at)
    }

    fn take_data(&mut self, input: &[u8], sink: &mut dyn FnMut(&[u8])) -> usize {
        let taken = usize::try_from(self.size).unwrap_or(usize::MAX).min(input.len());
        sink(&input[..taken]);
        self.size -= taken as u64;
        if self.size == 0 {
            self.state = State::Framing(Part::DataCr);
        }
        taken
    }

    /// The state after one `byte` of the grammar around the data.
    fn step(&mut self, part: Part, byte: u8) -> Result<State, Error> {
        let next = match (part, byte) {
            (Part::Size(digits), byte) => self.size_byte(digits, byte)?,
            (Part::Extension(extension), byte) => self.extension_byte(extension, byte)?,
            (Part::SizeLf, b'\n') => return self.begin_chunk(),
            (Part::SizeLf, _) => return Err(Error::BareLineEnd),
            (Part::DataCr, b'\r') => Part::DataLf,
            (Part::DataLf, b'\n') => self.begin_size(),
            (Part::DataCr | Part::DataLf, _) => return Err(Error::ChunkEnd),
            (Part::Trailers, byte) => match self.trailers.step(byte)? {
                true => return Ok(State::Complete),
                false => Part::Trailers,
            },
        };
        Ok(State::Framing(next))
    }

    fn begin_size(&mut self) -> Part {
        self.size = 0;
        Part::Size(0)
    }

    fn size_byte(&mut self, digits: u8, byte: u8) -> Result<Part, Error> {
        match (digits, hex_digit(byte)) {
            (MAX_SIZE_DIGITS, Some(_)) => Err(Error::ChunkSize),
            (_, Some(digit)) => {
                self.size = self.size << 4 | u64::from(digit);
                Ok(Part::Size(digits + 1))
            }
            (0, None) => Err(Error::ChunkSize),
            (_, None) if matches!(byte, b'\r' | b';' | b' ' | b'\t') => {
                self.extension_byte(Extension::End, byte)
            }
            (_, None) => Err(Error::ChunkSize),
        }
    }

    /// The part after `byte` of an extension. White space alone after a size is let through.
    fn extension_byte(&mut self, part: Extension, byte: u8) -> Result<Part, Error> {
        use Extension::*;
        if byte == b'\r' && matches!(part, End | Name | AfterName | Token) {
            return Ok(Part::SizeLf);
        }
        self.extensions_left =
            self.extensions_left.checked_sub(1).ok_or(Error::ChunkExtensionsTooLarge)?;
        let next = match (part, byte) {
            (End | Name | AfterName | Token, b';') => BeforeName,
            (Name | AfterName, b'=') => BeforeValue,
            (Name, b' ' | b'\t') => AfterName,
            (Token, b' ' | b'\t') => End,
            (End | BeforeName | AfterName | BeforeValue, b' ' | b'\t') => part,
            (BeforeName | Name, byte) if field::is_token_byte(byte) => Name,
            (BeforeValue, b'"') => Quoted,
            (BeforeValue | Token, byte) if field::is_token_byte(byte) => Token,
            (Quoted, b'"') => End,
            (Quoted, b'\\') => Escaped,
            (Quoted | Escaped, byte) if field::is_value_byte(byte) => Quoted,
            _ => return Err(Error::ChunkExtension),
        };
        Ok(Part::Extension(next))
    }

    /// After the line with the size: the data, or the trailers if this was the last chunk.
    fn begin_chunk(&mut self) -> Result<State, Error> {
        self.body_left = self.body_left.checked_sub(self.size).ok_or(Error::BodyTooLarge)?;
        Ok(if self.size == 0 { State::Framing(Part::Trailers) } else { State::Data })
    }
}

/// Sixteen digits are all that 64 bits hold.
const MAX_SIZE_DIGITS: u8 = 16;
