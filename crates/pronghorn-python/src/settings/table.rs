//! The one table of settings. Flags, variables, file keys, keywords of `run()`, help, the reference page, shell
//! completions and the man page all come from it.

use pronghorn_engine::{DatagramAddress, Format, ForwardedHeader, LogTarget};
use pronghorn_proto::proxy::Versions;

use super::asgi::{DrainChoice, InterfaceChoice, LifespanChoice, LoopChoice};
use super::declare::settings;
use super::kind::{Count, Each, FilePath, Level, Maybe, Size, Span, Switch, Text};
use super::log_target::MessageLog;
use super::mode::Mode;
use super::own::{MetricsPlace, UrlPath};
use super::peers::PeerList;
use super::proxies::BelievedList;
use super::root_path::RootPath;
use super::words::OneOf;
use super::workers::WorkerCount;
use super::{Address, AppSpec, Owner};

settings! {
    Application {
        /// The application: a module and the attribute in it that is the WSGI or ASGI callable. Without an attribute,
        /// `application` or else `app`. `module:factory()` calls a factory.
        app: Maybe<AppSpec> { positional: true, placeholder: "APP" };

        /// Take APP as a factory: call it without arguments to get the application.
        factory: Switch = "false";

        /// How the application is called: wsgi or asgi; auto finds out. For what cannot be told from the object, asgi is ASGI 3,
        /// which takes scope, receive and send; asgi2 is called with scope, and what it gives with receive and send.
        interface: OneOf<InterfaceChoice> = "auto" { placeholder: "NAME" };

        /// The path that the application is mounted at, such as /shop: its SCRIPT_NAME or root_path. Requests may come with it or, from a
        /// proxy that takes it off, without.
        root_path: Maybe<RootPath> { placeholder: "PATH", shared_variable: Some("SCRIPT_NAME") };

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
        /// or fd://N. May be given several times. Nothing given is the sockets that systemd opened, or else 127.0.0.1:8000.
        bind: Each<Address> { short: Some('b'), placeholder: "ADDRESS" };

        /// The host to listen on. With `port`, another way to write `bind`.
        host: Maybe<Text> { placeholder: "HOST" };

        /// The port to listen on. With `host`, another way to write `bind`.
        port: Maybe<Count<0, 65535>> { short: Some('p'), placeholder: "PORT" };

        /// The path of a Unix socket to listen on, the same as `bind` with unix:PATH. Beside `host` or `port` it is one address more.
        uds: Maybe<FilePath> { placeholder: "PATH" };

        /// The permissions of the Unix sockets that are made, in octal. They hold before anyone can connect.
        uds_mode: Maybe<Mode> { placeholder: "MODE" };

        /// The owner of the Unix sockets that are made, as USER, USER:GROUP or :GROUP, by name or number.
        uds_owner: Maybe<Owner> { placeholder: "OWNER" };

        /// A descriptor that is a listening socket already, the same as `bind` with fd://N.
        fd: Maybe<Count<0, { u32::MAX }>> { placeholder: "N" };

        /// How many connections the kernel keeps waiting to be accepted. The kernel caps it at
        /// net.core.somaxconn.
        backlog: Count<1, 65535> = "2048" { placeholder: "N" };

        /// How many connections may be open at once in one worker. Further ones wait in the backlog.
        max_connections: Count<1, 1_000_000> = "20000" { placeholder: "N", aliases: &["worker-connections"] };
    }

    Proxies {
        /// Who may say for whom a request is made: addresses, networks such as 10.0.0.0/8, `unix` for the peers on
        /// Unix sockets, or `*`, with commas between. What others say of that is not given to the application.
        forwarded_allow_ips: PeerList = "127.0.0.1,::1,unix" { placeholder: "PEERS", shared_variable: Some("FORWARDED_ALLOW_IPS") };

        /// How many proxies there are in front, instead of `forwarded-allow-ips` where their addresses are not known: the client is
        /// the Nth address from the right. Every peer counts as the nearest of them, so that nobody else may be able to connect.
        forwarded_count: Maybe<Count<1, 100>> { placeholder: "N" };

        /// Which of the two ways to say it the trusted proxies use: the X-Forwarded-* fields or Forwarded (RFC 7239).
        /// The other is not given to the application.
        forwarded_header: OneOf<ForwardedHeader> = "x-forwarded" { placeholder: "NAME" };

        /// What is believed of it, with commas between: for, proto, host, port, prefix. What a proxy does not set itself
        /// comes from the client: name nothing that it does not set. Other fields, such as x-forwarded-user, are given to the
        /// application if their whole names are listed.
        forwarded_fields: BelievedList = "for,proto" { placeholder: "LIST" };

        /// The PROXY protocol, by which a load balancer says for whom it connects: off, auto, v1 or v2. Connections of the peers in
        /// `proxy-allow-ips` then have to begin with it.
        proxy_protocol: OneOf<Option<Versions>> = "off" { placeholder: "VERSION" };

        /// Who may speak the PROXY protocol, written as `forwarded-allow-ips`.
        proxy_allow_ips: PeerList = "127.0.0.1,::1,unix" { placeholder: "PEERS", aliases: &["proxy-allow-from"] };

        /// Give every request an identifier: that of `X-Request-ID` from a trusted proxy, or else a new one. The
        /// application, the response and the access log get it.
        request_id: Switch = "false";
    }

    Concurrency {
        /// How many processes serve; auto is one for each processor.
        workers: WorkerCount = "1" { short: Some('w'), placeholder: "N", shared_variable: Some("WEB_CONCURRENCY") };

        /// How many threads may run the application at once. They start when first needed. With 1 everything
        /// runs on one thread, and a slow request stops all others.
        threads: Count<1, 1024> = "8" { placeholder: "N" };

        /// How long a request may run before another thread takes over reading and writing for all others.
        promote_after: Span<1> = "1ms" { placeholder: "TIME" };

        /// The most requests that are running or wait for a thread in one worker. Further ones are answered 503.
        max_concurrency: Maybe<Count<1, 1_000_000>> { placeholder: "N", aliases: &["limit-concurrency"] };
    }

    Asgi {
        /// What runs ASGI applications: asyncio or uvloop; auto is uvloop where it is installed.
        r#loop: OneOf<LoopChoice> = "auto" { placeholder: "NAME" };

        /// Whether the application is told of start and stop by the lifespan protocol: on makes a failure of it end the start,
        /// off does not ask, auto goes on without if the application does not know the protocol.
        lifespan: OneOf<LifespanChoice> = "auto" { placeholder: "NAME" };

        /// How much that a client has sent may wait for `receive`: of a request body, or in WebSocket messages. Then nothing more is
        /// read from its connection. A WebSocket message is given whole, whatever its size.
        asgi_receive_buffer: Size<1024, LARGEST_BUFFER> = "128KiB" { placeholder: "SIZE" };

        /// How much of what the application has sent may wait for its client. Then `send` waits.
        asgi_send_buffer: Size<1024, LARGEST_BUFFER> = "64KiB" { placeholder: "SIZE" };

        /// How long the application may go on with a request or a WebSocket after its client has gone. Then its task is cancelled.
        /// 0 lets it end by itself, as ASGI applications expect: `receive` tells them, and `send` raises OSError.
        disconnect_grace: Span<0> = "0" { placeholder: "TIME" };

        /// How responses and WebSockets that would not end learn of a graceful stop before `graceful-timeout` cuts them: disconnect
        /// makes `receive` say that the client has gone, while `send` still works; lifespan sends lifespan.shutdown at the begin of the
        /// stop and not at its end; off tells nobody.
        drain_streams: OneOf<DrainChoice> = "disconnect" { placeholder: "NAME" };

        /// The largest WebSocket message, after decompression. A larger one closes the connection with code 1009.
        ws_max_size: Size<1, LARGEST_MESSAGE> = "16MiB" { placeholder: "SIZE" };

        /// How many WebSocket messages of one client may wait for the application. Then nothing more is read from its connection.
        ws_max_queue: Count<1, 65535> = "32" { placeholder: "N" };

        /// How often a WebSocket is sent a ping. 0 turns this off.
        ws_ping_interval: Span<0> = "20s" { placeholder: "TIME" };

        /// How long a client may take to answer a ping. Then its WebSocket is closed. 0 turns this off.
        ws_ping_timeout: Span<0> = "20s" { placeholder: "TIME" };

        /// Compress WebSocket messages with clients that can (permessage-deflate, RFC 7692).
        ws_per_message_deflate: Switch = "true";
    }

    Workers {
        /// Watch over the workers from a process of its own, which replaces them without losing a request. Without it
        /// there is one process.
        supervisor: Switch = "true";

        /// Import the application before the workers are forked. They share its memory, and a reload does not change it.
        preload: Switch = "false";

        /// How long a worker may take to import the application and get ready.
        start_timeout: Span<1> = "2m" { placeholder: "TIME" };

        /// Replace a worker after so many requests. 0 turns this off.
        max_requests: Count<0, { u32::MAX }> = "0" { placeholder: "N", aliases: &["limit-max-requests"] };

        /// Up to so many requests more, by chance, so that workers are not replaced all at once.
        max_requests_jitter: Count<0, { u32::MAX }> = "0" { placeholder: "N", aliases: &["limit-max-requests-jitter"] };

        /// Replace a worker after this time. 0 turns this off.
        max_lifetime: Span<0, YEAR> = "0" { placeholder: "TIME" };

        /// Up to so much time more, by chance.
        max_lifetime_jitter: Span<0, YEAR> = "0" { placeholder: "TIME" };

        /// Replace a worker whose resident memory is larger. 0 turns this off.
        max_memory: Size<0> = "0" { placeholder: "SIZE" };

        /// Up to so much memory more, by chance.
        max_memory_jitter: Size<0> = "0" { placeholder: "SIZE" };

        /// Restart when a file of the application changes. For development.
        reload: Switch = "false";

        /// A folder whose files count as the application's too. May be given several times.
        reload_dir: Each<FilePath> { placeholder: "DIR" };

        /// Show the traceback of a failure to the client. For development.
        debug: Switch = "false";
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

        /// How long requests that are running may take to end after TERM, or when their worker is replaced. Then they are cut.
        graceful_timeout: Span<1> = "30s" { placeholder: "TIME", aliases: &["timeout-graceful-shutdown"] };

        /// How long the health check fails before a stop begins, so that a load balancer sends nobody any more.
        drain_delay: Span<0> = "0" { placeholder: "TIME" };

        /// How long a request may run. Then an exception is raised in its thread and its client gets 504. 0 turns this off.
        request_timeout: Span<0> = "60s" { placeholder: "TIME" };

        /// How long the thread of a request that is over its time may take to end it, before the worker is replaced.
        request_timeout_grace: Span<1> = "5s" { placeholder: "TIME" };

        /// Log requests that run longer, with their stacks. 0 turns this off.
        slow_request: Span<0> = "0" { placeholder: "TIME" };

        /// How long a request may wait for a thread. Then it is answered 503 without running. 0 turns this off.
        queue_timeout: Span<0> = "30s" { placeholder: "TIME" };
    }

    Responses {
        /// Add a Server field.
        server_header: Switch = "true";

        /// Add a Date field to responses that have none.
        date_header: Switch = "true";
    }

    Logging {
        /// Where the access log goes: a file, - for standard output, syslog:PATH or syslog:HOST:PORT. syslog: alone is
        /// /dev/log. Without it there is none.
        access_log: Maybe<LogTarget> { placeholder: "FILE", aliases: &["access-logfile"] };

        /// What a line of the access log says: common, combined, json, or a text with gunicorn's atoms.
        access_log_format: Format = "combined" { placeholder: "FORMAT", aliases: &["access-logformat"] };

        /// The file the server's messages are appended to; - is standard error, or Python's `logging` if the application
        /// has configured that.
        error_log: MessageLog = "-" { placeholder: "FILE", aliases: &["error-logfile", "log-file"] };

        /// The least severe messages of the server that are logged.
        log_level: Level = "info" { placeholder: "LEVEL" };
    }

    Monitoring {
        /// Where Prometheus finds the metrics: an address of its own, written as `bind`, or a path on all addresses.
        metrics: Maybe<MetricsPlace> { placeholder: "ADDRESS" };

        /// The path at which the server itself says whether it is ready: 200, or else 503.
        health: Maybe<UrlPath> { placeholder: "PATH" };

        /// The StatsD server that is told of requests: HOST:PORT, or unix:PATH.
        statsd_host: Maybe<DatagramAddress> { placeholder: "ADDRESS" };

        /// What the names of the StatsD metrics start with.
        statsd_prefix: Maybe<Text> { placeholder: "PREFIX" };

        /// Tags that DogStatsD metrics carry, with commas between.
        dogstatsd_tags: Maybe<Text> { placeholder: "TAGS" };
    }

    Process {
        /// The file that holds the process id of the supervisor while it runs.
        pid: Maybe<FilePath> { placeholder: "FILE", aliases: &["pidfile"] };

        /// The user whom the workers run as, by name or number.
        user: Maybe<Text> { short: Some('u'), placeholder: "USER" };

        /// The group that the workers run as, by name or number.
        group: Maybe<Text> { short: Some('g'), placeholder: "GROUP" };

        /// The permissions that files made by the workers do not get, in octal.
        umask: Maybe<Mode> { short: Some('m'), placeholder: "MODE" };
    }
}

/// The longest life of a worker, in hours.
const YEAR: u64 = 365 * 24;

/// The largest request line, and the largest field section: places in a head are 32-bit numbers.
const LARGEST_HEAD: u64 = 1 << 30;

/// The most that may wait in one direction of one connection.
const LARGEST_BUFFER: u64 = 1 << 30;

/// The largest WebSocket message that may be allowed.
const LARGEST_MESSAGE: u64 = 1 << 30;

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
    fn a_word_of_rust_can_be_a_name() {
        let setting = TABLE.iter().find(|setting| setting.name == "loop").expect("declared");
        assert_eq!(
            (setting.key().as_str(), setting.variable().as_str()),
            ("loop", "PRONGHORN_LOOP")
        );
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
