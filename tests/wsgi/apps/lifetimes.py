"""Uses the objects of a request in ways and at times they are not meant for, and tells what came of it."""

import threading

kept = []


def app(environ, start_response):
    """Answers with what the function for the path gave."""
    if environ["PATH_INFO"] == "/by_keyword":
        start_response(headers=[("X-A", "1")], status="202 Named", exc_info=None)
        return [b"by keyword"]
    if environ["PATH_INFO"] == "/start_within":
        return start_within(start_response)
    if environ["PATH_INFO"] == "/keep":
        kept[:] = [start_response, start_response("200 OK", []), environ["wsgi.input"]]
        return [b"kept"]
    text = ROUTES[environ["PATH_INFO"]](environ, start_response)
    start_response("200 OK", [("Content-Length", str(len(text)))])
    return [text.encode()]


def late_start(environ, start_response):
    """The start_response of a request that ended."""
    return outcome(lambda: kept[0]("200 OK", []))


def late_write(environ, start_response):
    """The write of a request that ended."""
    return outcome(lambda: kept[1](b"x"))


def late_read(environ, start_response):
    """The input of a request that ended."""
    return outcome(lambda: kept[2].read())


def start_elsewhere(environ, start_response):
    """start_response in another thread."""
    return in_a_thread(lambda: start_response("200 OK", []))


def read_elsewhere(environ, start_response):
    """A body that is still expected, read in another thread."""
    return in_a_thread(environ["wsgi.input"].read)


def wrong_arguments(environ, start_response):
    """Calls that no signature in PEP 3333 fits."""
    calls = [
        lambda: start_response(),
        lambda: start_response("200 OK"),
        lambda: start_response("200 OK", [], None, None),
        lambda: start_response("200 OK", [], status="200 OK"),
        lambda: start_response("200 OK", [], other=1),
        lambda: type(start_response)(),
    ]
    return "\n".join(map(outcome, calls))


def start_within(start_response):
    """Calls start_response while start_response reads the headers, and answers with what it gave."""
    results = []
    start_response("200 OK", Headers(lambda: results.append(outcome(lambda: start_response("201 Created", [])))))
    return [results[0].encode()]


class Headers(list):
    """Headers that call something when they are read."""

    def __init__(self, call):
        super().__init__([("X-A", "outer")])
        self.call = call

    def __iter__(self):
        """The fields, after the call."""
        self.call()
        return super().__iter__()


def in_a_thread(call):
    """What `call` does in a thread of its own."""
    results = []
    thread = threading.Thread(target=lambda: results.append(outcome(call)))
    thread.start()
    thread.join()
    return results[0]


def outcome(call):
    """What `call` gives, or the error it raises."""
    try:
        return repr(call())
    except Exception as error:
        return f"{type(error).__name__}: {error}"


ROUTES = {
    f"/{function.__name__}": function
    for function in [late_start, late_write, late_read, start_elsewhere, read_elsewhere, wrong_arguments]
}
