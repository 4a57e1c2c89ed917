"""How applications tell a test what happened to them: lines of the server's log."""

import json
import sys


def tell(name, value):
    """Prints `told NAME VALUE`, the value as JSON."""
    print("told", name, printed(value), file=sys.stderr, flush=True)


def printed(value):
    """The value as JSON, with bytes read as latin-1, and what JSON does not know by its name."""
    return json.dumps(plain(value))


def plain(value):
    """The value out of types that JSON knows."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value if isinstance(value, (str, int, float, type(None))) else type(value).__name__
