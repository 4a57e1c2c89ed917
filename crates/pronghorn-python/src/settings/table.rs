//! The one table of settings. Flags, variables, file keys, keywords of `run()`, help, the reference page, shell
//! completions and the man page all come from it.

use super::declare::settings;
use super::kind::{Count, Each, FilePath, Level, Maybe, Size, Span, Switch, Text};
use super::{Address, AppSpec};

settings! {
    Application {
        /// The application: a module and the attribute in it that is the WSGI callable. Without an attribute,
        /// `application` or else `app`. `module:factory()` calls a factory.
        app: Maybe<AppSpec> { positional: true, placeholder: "APP" };

        /// Take APP as a factory: call it without arguments to get the application.
        factory: Switch = "false";

        /// The folder that is first on the import path.
        app_dir: FilePath = "." { placeholder: "DIR" };

        /// Change to this folder before anything else is opened or imported. The settings file and the
        /// environment file are read before.
        chdir: Maybe<FilePath> { placeholder: "DIR" };

        /// A file of `NAME=value` lines that are put into the environment, where they do not replace what is
        /// there. `PRONGHORN_` variables in it count as settings.
        env_file: Maybe<FilePath> { placeholder: "FILE" };

        /// The settings file, in TOML.
        config: Maybe<FilePath> { short: Some('c'), placeholder: "FILE", in_file: false };
    }

    Listening {
        /// Where to listen: HOST:PORT with an IPv6 address in brackets, :PORT for every IPv4 interface, unix:PATH
        /// or fd://N. May be given several times. Nothing given is 127.0.0.1:8000.
        bind: Each<Address> { short: Some('b'), placeholder: "ADDRESS" };

        /// The host to listen on. With `port`, another way to write `bind`.
        host: Maybe<Text> { placeholder: "HOST" };

        /// The port to listen on. With `host`, another way to write `bind`.
        port: Maybe<Count<0, 65535>> { short: Some('p'), placeholder: "PORT" };

        /// The path of a Unix socket to listen on, the same as `bind` with unix:PATH.
        uds: Maybe<FilePath> { placeholder: "PATH" };

        /// A descriptor that is a listening socket already, the same as `bind` with fd://N.
        fd: Maybe<Count<0, { u32::MAX }>> { placeholder: "N" };

        /// How many connections the kernel keeps waiting to be accepted. The kernel caps it at
        /// net.core.somaxconn.
        backlog: Count<1, 65535> = "2048" { placeholder: "N" };

        /// How many connections may be open at once. Further ones wait in the backlog.
        max_connections: Count<1, 1_000_000> = "20000" { placeholder: "N", aliases: &["worker-connections"] };
    }

    Concurrency {
        /// How many processes serve. This version runs one.
        workers: Count<1, 1024> = "1" { short: Some('w'), placeholder: "N", shared_variable: Some("WEB_CONCURRENCY") };

        /// How many threads may run the application at once. They start when first needed. With 1 everything
        /// runs on one thread, and a slow request stops all others.
        threads: Count<1, 1024> = "8" { placeholder: "N" };

        /// How long a request may run before another thread takes over reading and writing for all others.
        promote_after: Span<1> = "1ms" { placeholder: "TIME" };
    }

    Limits {
        /// The longest request line. A longer one is answered 414.
        limit_request_line: Size<64, LARGEST_HEAD> = "8KiB" { placeholder: "SIZE" };

        /// The most header fields of a request. More are answered 431.
        limit_request_fields: Count<1, 32_768> = "100" { placeholder: "N" };

        /// The longest single header field, name and value. A longer one is answered 431.
        limit_request_field_size: Size<64, LARGEST_HEAD> = "8KiB" { placeholder: "SIZE", aliases: &["limit-request-field_size"] };

        /// The longest header section, all fields together. A longer one is answered 431.
        limit_fields_total: Size<64, LARGEST_HEAD> = "64KiB" { placeholder: "SIZE" };

        /// The most bytes of chunk extensions in one request body. More are answered 413.
        limit_chunk_extensions: Size<0> = "4KiB" { placeholder: "SIZE" };

        /// The longest trailer section of a chunked request body. A longer one is answered 413.
        limit_trailers: Size<0> = "8KiB" { placeholder: "SIZE" };

        /// The largest request body. A larger one is answered 413, before it is received if its length is
        /// announced.
        max_body: Size<0> = "100MiB" { placeholder: "SIZE" };

        /// How much of a request body is kept in memory. What is larger goes to an unnamed temporary file.
        body_buffer: Size<0> = "1MiB" { placeholder: "SIZE" };
    }

    Deadlines {
        /// How long the head of a request may take: from the opening of the connection, or from its first byte if it is
        /// a later one, to its last. Answered 408.
        head_timeout: Span<1> = "10s" { placeholder: "TIME" };

        /// How long a request body may pause. Answered 408.
        body_timeout: Span<1> = "30s" { placeholder: "TIME" };

        /// The least bytes a second that a request body must come with on average, once it has taken longer than
        /// `body-timeout`. A slower one is answered 408. 0 turns this off.
        body_min_rate: Size<0> = "240" { placeholder: "SIZE" };

        /// How long a connection may be idle between two requests.
        keep_alive: Span<1> = "15s" { placeholder: "TIME", aliases: &["timeout-keep-alive"] };

        /// How long a client may take nothing of a response before the connection is closed.
        write_timeout: Span<1> = "30s" { placeholder: "TIME" };

        /// How long a connection that is being closed still reads what the client sends, so that the last
        /// response reaches it.
        linger_timeout: Span<1> = "5s" { placeholder: "TIME" };

        /// How long requests that are running may take to end after INT or TERM.
        graceful_timeout: Span<1> = "30s" { placeholder: "TIME", aliases: &["timeout-graceful-shutdown"] };
    }

    Responses {
        /// Add a Server field.
        server_header: Switch = "true";

        /// Add a Date field to responses that have none.
        date_header: Switch = "true";
    }

    Logging {
        /// The file the access log is appended to; - is standard output. Without it there is none.
        access_log: Maybe<FilePath> { placeholder: "FILE", aliases: &["access-logfile"] };

        /// The least severe messages that go to standard error.
        log_level: Level = "info" { placeholder: "LEVEL" };
    }
}

/// The largest request line, and the largest field section: places in a head are 32-bit numbers.
const LARGEST_HEAD: u64 = 1 << 30;

impl Settings {
    /// Applies what one setting says about another.
    pub(super) fn combined(mut self) -> Self {
        if let Some(app) = &mut self.app {
            app.factory |= self.factory;
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::settings::{Arity, Given};

    #[test]
    fn every_flag_means_one_setting() {
        let mut seen = HashSet::new();
        for setting in TABLE {
            assert!(seen.insert(setting.key()), "{} twice", setting.name);
            for alias in setting.aliases {
                assert!(seen.insert((*alias).to_owned()), "{alias} twice");
            }
            if let Some(short) = setting.short {
                assert!(seen.insert(short.to_string()), "-{short} twice");
            }
        }
    }

    #[test]
    fn every_default_is_valid() {
        assert!(Given::default().resolve().is_ok());
    }

    #[test]
    fn every_setting_explains_itself() {
        for setting in TABLE {
            assert!(setting.help.ends_with('.'), "{}", setting.name);
            assert!(!(setting.expects)().is_empty(), "{}", setting.name);
            assert!(
                setting.arity == Arity::Switch || setting.placeholder != "VALUE",
                "{}",
                setting.name
            );
        }
    }
}
