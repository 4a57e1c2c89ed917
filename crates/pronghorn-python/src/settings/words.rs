//! Settings that are one of a few words.

use std::marker::PhantomData;

use super::kind::Single;
use super::nearest;

/// What has a word for each of its values.
pub trait Words: Copy + 'static {
    /// Every word and what it means.
    const ALL: &'static [(&'static str, Self)];

    /// The words, with commas between.
    fn listed() -> String {
        Self::ALL.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ")
    }

    /// The word for a value.
    fn word(self) -> &'static str
    where
        Self: PartialEq,
    {
        Self::ALL.iter().find(|(_, meaning)| *meaning == self).map_or("", |(word, _)| *word)
    }

    /// What a word means, in whatever case it is written.
    ///
    /// # Errors
    /// Says which words there are.
    fn read(text: &str) -> Result<Self, String> {
        let wanted = text.to_ascii_lowercase();
        let word = Self::ALL.iter().find(|(word, _)| *word == wanted);
        word.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let meant = nearest(text, Self::ALL.iter().map(|(word, _)| *word));
            let hint = meant.map(|word| format!(". Did you mean {word}?")).unwrap_or_default();
            format!("expected one of {}{hint}", Self::listed())
        })
    }
}

/// A setting that is one word.
pub struct OneOf<W>(PhantomData<W>);

impl<W: Words> Single for OneOf<W> {
    type Out = W;

    fn expects() -> String {
        W::listed()
    }

    fn parse(text: &str) -> Result<W, String> {
        W::read(text)
    }
}
