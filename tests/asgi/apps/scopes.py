"""Shows the scope."""

import asyncio

from exchange import answer_json


async def app(scope, receive, send):
    """Answers with the scope of the request; with lifespan, what it puts into the state."""
    if scope["type"] == "lifespan":
        return await lifespan(scope, receive, send)
    scope["state"]["mine"] = scope["path"]
    await answer_json(send, shown(scope))


async def lifespan(scope, receive, send):
    """Puts a number and a list into the state."""
    assert (await receive())["type"] == "lifespan.startup"
    scope["state"].update(number=7, shared=[], loop=asyncio.get_running_loop())
    print("lifespan scope", sorted(scope), sorted(scope["asgi"].items()))
    await send({"type": "lifespan.startup.complete"})
    await receive()
    print("state at the end", scope["state"]["number"], scope["state"]["shared"], "mine" in scope["state"])
    await send({"type": "lifespan.shutdown.complete"})


def shown(scope):
    """The scope as JSON can have it, with the types of what matters."""
    state = scope["state"]
    state["shared"].append(scope["path"])
    return {
        "keys": sorted(scope),
        "type": scope["type"],
        "asgi": scope["asgi"],
        "http_version": scope["http_version"],
        "method": scope["method"],
        "scheme": scope["scheme"],
        "path": scope["path"],
        "raw_path": scope["raw_path"].decode("latin-1"),
        "query_string": scope["query_string"].decode("latin-1"),
        "root_path": scope["root_path"],
        "headers": [[name.decode("latin-1"), value.decode("latin-1")] for name, value in scope["headers"]],
        "client": scope["client"] and list(scope["client"]),
        "server": scope["server"] and list(scope["server"]),
        "extensions": scope.get("extensions"),
        "state": {
            "number": state["number"],
            "shared": state["shared"],
            "mine": state["mine"],
            "same_loop": state["loop"] is asyncio.get_running_loop(),
        },
        "types": {key: type(value).__name__ for key, value in scope.items()},
        "field_types": sorted({type(part).__name__ for pair in scope["headers"] for part in pair}),
    }
