//! Flags that people know from gunicorn and uvicorn and that have no counterpart here.

/// What to do instead of writing `flag`, if another server knows it.
pub(super) fn advice(flag: &str) -> Option<&'static str> {
    ADVICE.iter().find(|(flags, _)| flags.contains(&flag)).map(|(_, advice)| *advice)
}

const ADVICE: &[(&[&str], &str)] = &[
    (
        &["-k", "--worker-class"],
        "There is one kind of worker, and it has threads. Leave it out, and set --threads.",
    ),
    (
        &["-t", "--timeout"],
        "A request that runs is not interrupted, however long it takes. Leave it out; \
         `pronghorn --help` lists the deadlines that clients have.",
    ),
    (
        &["--reload", "--reload-dir", "--reload-engine", "--reload-extra-file"],
        "A change of the code is not noticed. Let another program restart the server, such as watchfiles from PyPI: \
         watchfiles \"pronghorn MODULE:ATTRIBUTE\".",
    ),
    (
        &["--preload", "--max-requests", "--max-requests-jitter", "--limit-max-requests"],
        "There is one worker process, and it runs until the server ends. Leave it out.",
    ),
    (
        &["-D", "--daemon", "--pid", "-u", "--user", "-g", "--group"],
        "The server stays in the foreground, as the user who starts it. Let systemd or a container do the rest.",
    ),
    (
        &[
            "--certfile",
            "--keyfile",
            "--ca-certs",
            "--ssl-certfile",
            "--ssl-keyfile",
            "--ssl-ca-certs",
        ],
        "There is no TLS yet. Let nginx or another proxy end TLS, and listen with --bind unix:PATH.",
    ),
    (
        &["--error-logfile", "--log-file", "--capture-output"],
        "Messages go to standard error, and so does what the application writes there. Redirect it: 2>FILE.",
    ),
    (
        &["--forwarded-allow-ips", "--proxy-headers", "--no-proxy-headers", "--root-path"],
        "What a proxy says of the client is not interpreted. Let the application do so, as with Werkzeug's ProxyFix.",
    ),
    (
        &["--interface", "--lifespan", "--ws", "--loop", "--http"],
        "This version serves WSGI over HTTP/1.1 with a loop of its own. Leave it out.",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cli::command;

    #[test]
    fn each_flag_is_listed_once_and_is_none_of_ours() {
        let command = command();
        let mut seen = BTreeSet::new();
        for flag in ADVICE.iter().flat_map(|(flags, _)| *flags) {
            assert!(seen.insert(flag), "{flag} twice");
            let name = flag.trim_start_matches('-');
            let ours = command.get_arguments().any(|argument| {
                argument.get_long() == Some(name)
                    || argument.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
                    || argument.get_short().is_some_and(|short| *flag == format!("-{short}"))
            });
            assert!(!ours, "{flag} is a flag of this command");
        }
    }
}
