//! Flags that people know from gunicorn and uvicorn and that have no counterpart here.

/// What to do instead of writing `flag`, if another server knows it.
pub fn advice(flag: &str) -> Option<&'static str> {
    let known = ADVICE.iter().find(|(flags, _)| flags.contains(&flag)).map(|(_, advice)| *advice);
    known.or_else(|| flag.starts_with("--ssl-").then_some(NO_TLS))
}

const NO_TLS: &str =
    "There is no TLS yet. Let nginx or another proxy end TLS, and listen with --bind unix:PATH.";

const ADVICE: &[(&[&str], &str)] = &[
    (
        &["-k", "--worker-class"],
        "There is one kind of worker: it finds out whether the application is ASGI, and runs WSGI on --threads. Leave it out.",
    ),
    (
        &["-t", "--timeout"],
        "There are two deadlines: a request may take --request-timeout, and a worker may take --start-timeout to get ready.",
    ),
    (
        &[
            "--reload-engine",
            "--reload-extra-file",
            "--reload-include",
            "--reload-exclude",
            "--reload-includes",
            "--reload-excludes",
            "--reload-delay",
        ],
        "--reload watches the modules that are imported, and every file of the folders named by --reload-dir.",
    ),
    (
        &["-D", "--daemon"],
        "The server stays in the foreground. Let systemd or a container run it; deploy/ has examples.",
    ),
    (&["--certfile", "--keyfile", "--ca-certs", "--ciphers", "--do-handshake-on-connect"], NO_TLS),
    (
        &["--capture-output"],
        "What the application writes to standard error stays there. Redirect it: 2>FILE.",
    ),
    (
        &["--no-proxy-headers"],
        "Write --forwarded-allow-ips none. What proxies say of the client is then believed from nobody.",
    ),
    (
        &["--proxy-headers"],
        "What proxies say of the client is believed from those that --forwarded-allow-ips names, and from nobody else. Leave it out.",
    ),
    (
        &["--no-access-log"],
        "There is no access log unless --access-log says where it goes. Leave it out.",
    ),
    (&["--worker-tmp-dir"], "Workers need no file to show that they live. Leave it out."),
    (
        &["-n", "--name"],
        "Processes keep their names. Leave it out, and tell servers apart by --pid.",
    ),
    (
        &["-R", "--enable-stdio-inheritance"],
        "Standard output and error are always the application's too. Leave it out.",
    ),
    (
        &[
            "--log-config",
            "--log-config-json",
            "--log-config-dict",
            "--logconfig",
            "--logconfig-dict",
            "--logger-class",
        ],
        "Configure Python's logging in the application: the server's messages then go to its logger pronghorn.error.",
    ),
    (
        &["--log-syslog", "--log-syslog-to", "--log-syslog-prefix", "--log-syslog-facility"],
        "The access log goes to syslog with --access-log syslog:PATH or syslog:HOST:PORT.",
    ),
    (
        &["--reuse-port"],
        "All workers accept from one socket, and none is lost with a worker. Leave it out.",
    ),
    (&["--initgroups"], "The supplementary groups of --user are always set. Leave it out."),
    (
        &["--ws", "--http"],
        "HTTP and WebSockets are the server's own, and always there. Leave it out.",
    ),
    (&["--http2"], "There is no HTTP/2. Let a proxy in front speak it with clients."),
    (
        &["--h11-max-incomplete-event-size"],
        "The head of a request may have the size that --limit-fields-total says.",
    ),
    (&["--use-colors", "--no-use-colors"], "The log has no colours. Leave it out."),
    (
        &["--header", "--headers"],
        "Fields of every response are for a middleware of the application, or for the proxy.",
    ),
    (
        &["--timeout-worker-healthcheck"],
        "A worker whose request hangs is replaced after --request-timeout and --request-timeout-grace. Leave it out.",
    ),
    (
        &["--reset-contextvars"],
        "Each request runs in a task and a context of its own. Leave it out.",
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
