"""Answers without reading the body."""


def app(environ, start_response):
    """Answers 200 with the path."""
    body = f"unread {environ['PATH_INFO']}\n".encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
