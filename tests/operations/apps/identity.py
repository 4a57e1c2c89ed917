"""Tells who its process is, as a literal of Python: identifiers, groups, umask and environment; `imported` is what held while it
was imported. Imports nothing that is not loaded: its user may not be allowed to read the standard library.
"""

import os


def identity():
    """What the system says of this process."""
    umask = os.umask(0)
    os.umask(umask)
    return {
        "pid": os.getpid(),
        "users": list(os.getresuid()),
        "groups": list(os.getresgid()),
        "supplementary": sorted(os.getgroups()),
        "umask": umask,
        "environment": dict(os.environ),
    }


IMPORTED = identity()


def app(environ, start_response):
    """Answers 200."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [ascii({**identity(), "imported": IMPORTED}).encode()]
