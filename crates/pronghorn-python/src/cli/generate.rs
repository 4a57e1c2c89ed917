//! Files made from the command: shell completions and the manual page.

use clap_complete::Shell;

use super::command::command;
use crate::settings::UsageError;

/// The completions for a shell.
///
/// # Errors
/// A shell there are none for.
pub fn completions(shell: &str) -> Result<String, UsageError> {
    let shell = match shell {
        "bash" => Shell::Bash,
        "fish" => Shell::Fish,
        "zsh" => Shell::Zsh,
        _ => {
            return Err(UsageError::new(format!(
                "there are no completions for {shell:?}. Write --completions bash, fish or zsh."
            )));
        }
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "pronghorn", &mut script);
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// The manual page, in roff.
pub fn man_page() -> String {
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = clap_mangen::Man::new(command()).render(&mut page);
    String::from_utf8_lossy(&page).into_owned()
}
