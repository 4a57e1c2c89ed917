"""The servers of ASGI applications: one process, one event loop, no access log, the fastest loop each can have.

freastal and fastpysgi have no WebSocket workloads: they do not speak the protocol. What else a server cannot do the checks of
the workloads find out.
"""

from spec import BIN, RELEASE, WEFT_SYMBOL, ServerSpec

CONNECTIONS = "12000"  # above what the idle workload holds
KEEP_ALIVE = "120"  # seconds

HTTP_WORKLOADS = frozenset({"asgi-hello", "asgi-json", "asgi-echo", "asgi-stream", "asgi-memory"})
ECHO_WORKLOADS = frozenset(f"ws-echo-{clients}{size}" for clients in (1, 32, 256) for size in ("", "-16k"))
ALL_WORKLOADS = HTTP_WORKLOADS | ECHO_WORKLOADS | {"ws-broadcast", "ws-idle"}

PROBED = ("--health", "/health", "--metrics", "/metrics", "--head-timeout", "2s")


def asgi_servers():
    """Return every `ServerSpec` of this interface."""
    floor = (str(RELEASE / "floor"), "{port}", "websocket")
    return [
        ServerSpec("floor-websocket", 0, floor, workloads=ECHO_WORKLOADS),
        _pronghorn("pronghorn-asyncio", "asyncio"),
        _pronghorn("pronghorn-uvloop", "uvloop", extras=("uvloop",)),
        _pronghorn("pronghorn-asyncio-probed", "asyncio", {"asgi-blocked"}, options=PROBED),
        _pronghorn("pronghorn-uvloop-probed", "uvloop", {"asgi-blocked"}, ("uvloop",), PROBED),
        _embedded("freastal-asgi", "freastal"),
        _peregrine(),
        _weft(),
        _embedded("fastpysgi-asgi", "fastpysgi", ("uvloop",)),
        _granian(),
        _uvicorn(),
        _gunicorn(),
        _hypercorn(),
    ]


def _pronghorn(name, loop, workloads=ALL_WORKLOADS, extras=(), options=()):
    command = (
        *(str(BIN / "pronghorn"), "asgi_app:{app}", "--interface", "asgi", "--loop", loop),
        *("--bind", "127.0.0.1:{port}", "--keep-alive", f"{KEEP_ALIVE}s", *options),
    )
    return ServerSpec(name, 0, command, workloads=frozenset(workloads), extras=extras)


def _embedded(name, package, extras=()):
    command = (str(BIN / "python"), "embedded.py", name, "asgi_app:{app}", "{port}")
    return ServerSpec(name, 0, command, package, HTTP_WORKLOADS, extras)


def _peregrine():
    command = (
        *(str(BIN / "peregrine"), "--protocol", "asgi", "--host", "127.0.0.1", "--port", "{port}", "--workers", "1"),
        *("--max-connections", CONNECTIONS, "--keep-alive", f"{KEEP_ALIVE}000", "--no-lifespan"),
        *("--log-level", "error", "asgi_app:{app}"),
    )
    return ServerSpec("peregrine-asgi", 0, command, "peregrine-server", ALL_WORKLOADS, ("uvloop",))


def _weft():
    command = (
        *(str(BIN / "weft"), "--protocol", "asgi", "--host", "127.0.0.1", "--port", "{port}", "--workers", "1"),
        *("--max-connections", CONNECTIONS, "--keep-alive", KEEP_ALIVE, "--no-lifespan"),
        *("--log-level", "error", "asgi_app:{app}"),
    )
    environment = {"LD_PRELOAD": str(WEFT_SYMBOL)}
    return ServerSpec("weft-asgi", 0, command, "weft-server", ALL_WORKLOADS, environment=environment)


def _granian():
    command = (
        *(str(BIN / "granian"), "--interface", "asginl", "--host", "127.0.0.1", "--port", "{port}", "--workers", "1"),
        *("--loop", "uvloop", "--http", "1", "--runtime-mode", "st", "--backlog", CONNECTIONS),
        *("--backpressure", CONNECTIONS, "--log-level", "error", "asgi_app:{app}"),
    )
    return ServerSpec("granian-asgi", 0, command, "granian", ALL_WORKLOADS, ("uvloop",))


def _uvicorn():
    command = (
        *(str(BIN / "uvicorn"), "--host", "127.0.0.1", "--port", "{port}", "--loop", "uvloop", "--http", "httptools"),
        *("--ws", "websockets-sansio", "--lifespan", "off", "--timeout-keep-alive", KEEP_ALIVE),
        *("--no-access-log", "--log-level", "error", "asgi_app:{app}"),
    )
    return ServerSpec("uvicorn", 0, command, "uvicorn", ALL_WORKLOADS, ("uvloop", "httptools", "websockets"))


def _gunicorn():
    command = (
        *(str(BIN / "gunicorn"), "--worker-class", "asgi", "--asgi-loop", "uvloop", "--asgi-lifespan", "off"),
        *("--bind", "127.0.0.1:{port}", "--worker-connections", CONNECTIONS, "--keep-alive", KEEP_ALIVE),
        *("--log-level", "error", "asgi_app:{app}"),
    )
    return ServerSpec("gunicorn-asgi", 0, command, "gunicorn", ALL_WORKLOADS, ("uvloop", "gunicorn_h1c"))


def _hypercorn():
    command = (
        *(str(BIN / "hypercorn"), "--worker-class", "uvloop", "--bind", "127.0.0.1:{port}"),
        *("--keep-alive", KEEP_ALIVE, "--log-level", "error", "asgi_app:{app}"),
    )
    return ServerSpec("hypercorn", 0, command, "hypercorn", ALL_WORKLOADS, ("uvloop",))
