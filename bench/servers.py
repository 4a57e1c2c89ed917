"""The servers that are compared: how each is installed and started with one worker and its best settings."""

from asgi_servers import asgi_servers
from spec import BIN, RELEASE, WEFT_SYMBOL, ServerSpec

CONNECTIONS = "12000"  # above what the idle workload holds
KEEP_ALIVE = 120  # seconds; above what the idle workload takes

PYTHON_WORKLOADS = frozenset({"hello", "close", "json", "echo", "mixed", "idle", "memory"})
PRONGHORN_WORKLOADS = PYTHON_WORKLOADS | {"options", "start"}
CONSTANT_WORKLOADS = frozenset({"hello", "close", "idle", "memory"})


def _embedded(name):
    return (str(BIN / "python"), "embedded.py", name, "bench_app:{app}", "{port}")


def _inline(name, package):
    return ServerSpec(name, 0, _embedded(name), package, PYTHON_WORKLOADS)


def _peregrine(name, threads):
    command = (
        *(str(BIN / "peregrine"), "--protocol", "wsgi", "--host", "127.0.0.1", "--port", "{port}"),
        *("--workers", "1", "--wsgi-threads", str(threads or 1), "--max-connections", CONNECTIONS),
        *("--keep-alive", str(KEEP_ALIVE * 1000), "--log-level", "error", "bench_app:{app}"),
    )
    return ServerSpec(name, threads, command, "peregrine-server", PYTHON_WORKLOADS)


def _weft(name, threads):
    command = (
        *(str(BIN / "weft"), "--protocol", "wsgi", "--host", "127.0.0.1", "--port", "{port}"),
        *("--workers", "1", "--wsgi-threads", str(threads), "--max-connections", CONNECTIONS),
        *("--keep-alive", str(KEEP_ALIVE), "--log-level", "error", "bench_app:{app}"),
    )
    environment = {"LD_PRELOAD": str(WEFT_SYMBOL)}
    return ServerSpec(name, threads, command, "weft-server", PYTHON_WORKLOADS, environment=environment)


def _granian(name, threads):
    command = (
        *(str(BIN / "granian"), "--interface", "wsgi", "--host", "127.0.0.1", "--port", "{port}"),
        *("--workers", "1", "--blocking-threads", str(threads), "--http", "1", "--no-ws"),
        *("--backlog", CONNECTIONS, "--backpressure", CONNECTIONS, "--log-level", "error", "bench_app:{app}"),
    )
    return ServerSpec(name, threads, command, "granian", PYTHON_WORKLOADS)


def _gunicorn(name, threads, worker_class, workloads=PYTHON_WORKLOADS):
    command = (
        *(str(BIN / "gunicorn"), "--worker-class", worker_class, "--workers", "1", "--threads", str(threads)),
        *("--bind", "127.0.0.1:{port}", "--worker-connections", CONNECTIONS, "--keep-alive", str(KEEP_ALIVE)),
        *("--log-level", "error", "bench_app:{app}"),
    )
    return ServerSpec(name, threads, command, "gunicorn", workloads, ("gunicorn_h1c",))


def _waitress():
    command = (
        *(str(BIN / "waitress-serve"), "--listen", "127.0.0.1:{port}", "--threads", "8"),
        *("--connection-limit", CONNECTIONS, "--channel-timeout", str(KEEP_ALIVE), "--asyncore-use-poll"),
        "bench_app:{app}",
    )
    return ServerSpec("waitress", 8, command, "waitress", PYTHON_WORKLOADS)


def _pronghorn(name="pronghorn", workloads=PRONGHORN_WORKLOADS, options=()):
    command = (
        *(str(BIN / "pronghorn"), "bench_app:{app}", "--bind", "127.0.0.1:{port}"),
        *("--threads", "8", "--keep-alive", f"{KEEP_ALIVE}s", *options),
    )
    return ServerSpec(name, 8, command, workloads=frozenset(workloads))


def _built(name, program, address, workloads=CONSTANT_WORKLOADS):
    return ServerSpec(name, 0, (str(program), *address), workloads=frozenset(workloads))


def all_servers():
    """Return every `ServerSpec`."""
    return [
        _built("floor", RELEASE / "floor", ("{port}",), CONSTANT_WORKLOADS | {"asgi-hello", "asgi-memory"}),
        _built("pronghorn-hello", RELEASE / "examples/hello", ("127.0.0.1:{port}",)),
        _pronghorn(),
        _pronghorn("pronghorn-access-log", {"options"}, ("--access-log", "/tmp/pronghorn-bench-access.log")),
        _pronghorn("pronghorn-metrics", {"options"}, ("--metrics", "/metrics")),
        _pronghorn("pronghorn-4-workers", {"roll"}, ("--workers", "4")),
        _inline("freastal", "freastal"),
        _peregrine("peregrine", 0),
        _peregrine("peregrine-8", 8),
        _weft("weft", 0),
        _weft("weft-8", 8),
        _inline("fastpysgi", "fastpysgi"),
        _inline("bjoern", "bjoern-binary"),
        _granian("granian", 1),
        _granian("granian-8", 8),
        _gunicorn("gunicorn-sync", 1, "sync", PYTHON_WORKLOADS - {"idle"}),  # it never keeps a connection
        _gunicorn("gunicorn-8", 8, "gthread", PYTHON_WORKLOADS | {"start"}),
        _waitress(),
        *asgi_servers(),
    ]
