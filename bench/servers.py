"""The servers that are compared: how each is installed and started with one worker and its best settings."""

from dataclasses import dataclass, field
from pathlib import Path

BENCH = Path(__file__).parent
ROOT = BENCH.parent
BIN = BENCH / ".venv" / "bin"
WEFT_SYMBOL = BENCH / ".venv" / "weft_symbol.so"  # made by install.py, which says why
CONNECTIONS = "12000"  # above what the idle workload holds
KEEP_ALIVE = 120  # seconds; above what the idle workload takes

PYTHON_WORKLOADS = frozenset({"hello", "close", "json", "echo", "mixed", "idle", "memory"})
PRONGHORN_WORKLOADS = PYTHON_WORKLOADS | {"options", "start"}
CONSTANT_WORKLOADS = frozenset({"hello", "close", "idle", "memory"})


@dataclass(frozen=True)
class ServerSpec:
    """How a server is started.

    `command` may hold `{app}` (a callable of `bench_app`) and `{port}`. `threads` is how many threads may run the
    application; 0 means inline on the event loop, so one slow request holds up all others. `package` is the name on
    PyPI, or None for what this repository builds.
    """

    name: str
    threads: int
    command: tuple[str, ...]
    package: str | None = None
    workloads: frozenset[str] = PYTHON_WORKLOADS
    environment: dict[str, str] = field(default_factory=dict)

    def argv(self, app, port):
        """Return the command line that serves `bench_app.<app>` on 127.0.0.1:`port`."""
        return [word.format(app=app, port=port) for word in self.command]

    def program(self):
        """Return the path of the program that must exist for this server to be started."""
        return Path(self.command[0])


def _embedded(name):
    return (str(BIN / "python"), "embedded.py", name, "{app}", "{port}")


def _freastal():
    return ServerSpec("freastal", 0, _embedded("freastal"), "freastal")


def _peregrine(name, threads):
    command = (
        *(str(BIN / "peregrine"), "--protocol", "wsgi", "--host", "127.0.0.1", "--port", "{port}"),
        *("--workers", "1", "--wsgi-threads", str(threads or 1), "--max-connections", CONNECTIONS),
        *("--keep-alive", str(KEEP_ALIVE * 1000), "--log-level", "error", "bench_app:{app}"),
    )
    return ServerSpec(name, threads, command, "peregrine-server")


def _weft(name, threads):
    command = (
        *(str(BIN / "weft"), "--protocol", "wsgi", "--host", "127.0.0.1", "--port", "{port}"),
        *("--workers", "1", "--wsgi-threads", str(threads), "--max-connections", CONNECTIONS),
        *("--keep-alive", str(KEEP_ALIVE), "--log-level", "error", "bench_app:{app}"),
    )
    return ServerSpec(name, threads, command, "weft-server", environment={"LD_PRELOAD": str(WEFT_SYMBOL)})


def _granian(name, threads):
    command = (
        *(str(BIN / "granian"), "--interface", "wsgi", "--host", "127.0.0.1", "--port", "{port}"),
        *("--workers", "1", "--blocking-threads", str(threads), "--http", "1", "--no-ws"),
        *("--backlog", CONNECTIONS, "--backpressure", CONNECTIONS, "--log-level", "error", "bench_app:{app}"),
    )
    return ServerSpec(name, threads, command, "granian")


def _gunicorn(name, threads, worker_class, workloads=PYTHON_WORKLOADS):
    command = (
        *(str(BIN / "gunicorn"), "--worker-class", worker_class, "--workers", "1", "--threads", str(threads)),
        *("--bind", "127.0.0.1:{port}", "--worker-connections", CONNECTIONS, "--keep-alive", str(KEEP_ALIVE)),
        *("--log-level", "error", "bench_app:{app}"),
    )
    return ServerSpec(name, threads, command, "gunicorn", workloads)


def _waitress():
    command = (
        *(str(BIN / "waitress-serve"), "--listen", "127.0.0.1:{port}", "--threads", "8"),
        *("--connection-limit", CONNECTIONS, "--channel-timeout", str(KEEP_ALIVE), "--asyncore-use-poll"),
        "bench_app:{app}",
    )
    return ServerSpec("waitress", 8, command, "waitress")


def _pronghorn(name="pronghorn", workloads=PRONGHORN_WORKLOADS, options=()):
    command = (
        *(str(ROOT / ".venv/bin/pronghorn"), "bench_app:{app}", "--bind", "127.0.0.1:{port}"),
        *("--threads", "8", "--keep-alive", f"{KEEP_ALIVE}s", *options),
    )
    return ServerSpec(name, 8, command, workloads=frozenset(workloads))


def _built(name, program, address):
    return ServerSpec(name, 0, (str(program), address), workloads=CONSTANT_WORKLOADS)


def all_servers(target):
    """Return every `ServerSpec`; `target` is the folder cargo builds into."""
    return [
        _built("floor", target / "release/floor", "{port}"),
        _built("pronghorn-hello", target / "release/examples/hello", "127.0.0.1:{port}"),
        _pronghorn(),
        _pronghorn("pronghorn-access-log", {"options"}, ("--access-log", "/tmp/pronghorn-bench-access.log")),
        _pronghorn("pronghorn-metrics", {"options"}, ("--metrics", "/metrics")),
        _pronghorn("pronghorn-4-workers", {"roll"}, ("--workers", "4")),
        _freastal(),
        _peregrine("peregrine", 0),
        _peregrine("peregrine-8", 8),
        _weft("weft", 0),
        _weft("weft-8", 8),
        ServerSpec("fastpysgi", 0, _embedded("fastpysgi"), "fastpysgi"),
        ServerSpec("bjoern", 0, _embedded("bjoern"), "bjoern-binary"),
        _granian("granian", 1),
        _granian("granian-8", 8),
        _gunicorn("gunicorn-sync", 1, "sync", PYTHON_WORKLOADS - {"idle"}),  # it never keeps a connection
        _gunicorn("gunicorn-8", 8, "gthread", PYTHON_WORKLOADS | {"start"}),
        _waitress(),
    ]
