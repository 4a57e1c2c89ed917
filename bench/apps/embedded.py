"""Starts the servers that have no command, or none with their best settings, from code.

`embedded.py SERVER MODULE:CALLABLE PORT`.
"""

import importlib
import sys


def serve_bjoern(app, port):
    """Run bjoern: one thread, the application inline."""
    import bjoern

    bjoern.run(app, "127.0.0.1", port, listen_backlog=4096)


def serve_fastpysgi(app, port):
    """Run fastpysgi: one thread, the application inline, Nagle's algorithm off."""
    import fastpysgi

    fastpysgi.server.backlog = 4096
    fastpysgi.server.tcp_nodelay = 1
    fastpysgi.run(app, host="127.0.0.1", port=port)


def serve_fastpysgi_asgi(app, port):
    """Run fastpysgi with an ASGI application, which it tells by itself."""
    import fastpysgi

    fastpysgi.server.lifespan = 0
    serve_fastpysgi(app, port)


def serve_freastal(app, port):
    """Run freastal: one thread, the application inline."""
    import freastal

    freastal.serve(app, host="127.0.0.1", port=port)


def serve_freastal_asgi(app, port):
    """Run freastal with an ASGI application, on the loop it makes itself."""
    import freastal

    freastal.serve_asgi(app, host="127.0.0.1", port=port)


SERVERS = {
    "bjoern": serve_bjoern,
    "fastpysgi": serve_fastpysgi,
    "fastpysgi-asgi": serve_fastpysgi_asgi,
    "freastal": serve_freastal,
    "freastal-asgi": serve_freastal_asgi,
}

if __name__ == "__main__":
    name, target, port_text = sys.argv[1:]
    module, _, attribute = target.partition(":")
    SERVERS[name](getattr(importlib.import_module(module), attribute), int(port_text))
