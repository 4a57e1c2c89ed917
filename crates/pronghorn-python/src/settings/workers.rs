//! How many workers: a number, or as many as there are processors.

use std::num::NonZero;

use super::kind::{Count, Single};

/// A number of worker processes, or `auto`.
pub struct WorkerCount;

type Number = Count<1, 1024>;

impl Single for WorkerCount {
    type Out = u32;
    const BARE: bool = true;

    fn expects() -> String {
        format!("{}, or auto", Number::expects())
    }

    fn parse(text: &str) -> Result<u32, String> {
        match text {
            "auto" => Ok(processors()),
            _ => Number::parse(text).map_err(|_| format!("expected {}", Self::expects())),
        }
    }
}

/// How many processors this process may use, as its affinity and its control group say.
fn processors() -> u32 {
    let count = std::thread::available_parallelism().map_or(1, NonZero::get);
    u32::try_from(count).unwrap_or(1).min(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_or_auto() {
        assert_eq!(WorkerCount::parse("4"), Ok(4));
        assert_eq!(WorkerCount::parse("auto"), Ok(processors()));
        for text in ["0", "1025", "Auto", ""] {
            let reason = "expected a whole number from 1 to 1024, or auto".to_owned();
            assert_eq!(WorkerCount::parse(text), Err(reason), "{text}");
        }
    }
}
