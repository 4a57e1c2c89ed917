"""Starts the servers that have no command, or none with their best settings, from code.

`embedded.py SERVER CALLABLE PORT`, with CALLABLE the name of one of `bench_app`.
"""

import sys

import bench_app


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


def serve_freastal(app, port):
    """Run freastal: one thread, the application inline."""
    import freastal

    freastal.serve(app, host="127.0.0.1", port=port)


SERVERS = {"bjoern": serve_bjoern, "fastpysgi": serve_fastpysgi, "freastal": serve_freastal}

if __name__ == "__main__":
    name, attribute, port_text = sys.argv[1:]
    SERVERS[name](getattr(bench_app, attribute), int(port_text))
