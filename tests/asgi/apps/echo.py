"""ECHO: method, target, fields and body of the request, as JSON, in the words of CGI that the checks of the rules know."""

from exchange import answer_json, whole_body


async def app(scope, receive, send):
    """Answers 200; the body is read whole and returned as latin-1 text."""
    assert scope["type"] == "http"
    body = await whole_body(receive)
    seen = {
        "method": scope["method"],
        "path": scope["path"],
        "query": scope["query_string"].decode("latin-1"),
        "environ": environ_of(scope),
        "body": body.decode("latin-1"),
    }
    await answer_json(send, seen)


def environ_of(scope):
    """The variables of CGI that the fields of the request would be."""
    joined = {}
    for name, value in scope["headers"]:
        joined.setdefault(cgi_name(name), []).append(value.decode("latin-1"))
    variables = {name: ("; " if name == "HTTP_COOKIE" else ", ").join(values) for name, values in joined.items()}
    return variables | {"SERVER_PROTOCOL": f"HTTP/{scope['http_version']}"}


def cgi_name(name):
    """The name of the variable of a field."""
    plain = name.decode("latin-1").upper().replace("-", "_")
    return plain if plain in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{plain}"
