"""Response bodies made of what applications yield, right or wrong, and statuses and fields of the same kind."""


def app(environ, start_response):
    """Answers as the function in ROUTES for the path does; what follows a second slash is its argument."""
    name, _, argument = environ["PATH_INFO"].lstrip("/").partition("/")
    return ROUTES[name](start_response, argument)


def lists(start_response, kind):
    """A list of one such piece."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [PIECES[kind]]


def generators(start_response, kind):
    """Two bytes, then such a piece, from a generator."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    yield b"ab"
    yield PIECES[kind]


def objects(start_response, kind):
    """Not an iterable of pieces at all, or one of an unusual kind."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return OBJECTS[kind]()


def statuses(start_response, kind):
    """That status."""
    start_response(STATUSES.get(kind, kind), [("Content-Type", "text/plain")])
    return [b"body"]


def fields(start_response, kind):
    """That field list."""
    start_response("200 OK", FIELDS[kind])
    return [b"body"]


def after(start_response, _):
    """The last request on a connection."""
    start_response("200 OK", [("Content-Length", "6")])
    return [b"/after"]


PIECES = {
    "bytes": b"cdef", "bytearray": bytearray(b"cdef"), "memoryview": memoryview(b"cdef"), "strided": memoryview(b"c.d.e.f.")[::2],
    "str": "cdef", "None": None, "int": 4, "empty": b"",
}  # fmt: skip
OBJECTS = {
    "None": lambda: None, "int": lambda: 4, "str": lambda: "abcdef", "bytes": lambda: b"abcdef", "tuple": lambda: (b"ab", b"cdef"),
    "map": lambda: map(bytes, [b"ab", b"cdef"]), "nothing": lambda: [],
}  # fmt: skip
STATUSES = {
    "no reason": "200",
    "empty reason": "200 ",
    "injection": "200 OK\r\nX-B: c",
    "bytes": b"200 OK",
    "int": 200,
    "kept": "299 My Reason",
}
FIELDS = {
    "space in name": [("X A", "1")], "empty name": [("", "1")], "outside latin-1": [("X-A", "\u20ac")], "bytes": [(b"X-A", b"1")],
    "not a pair": [("X-A",)], "number": [("X-A", 1)], "injection": [("X-A", "1\r\nX-B: 2")], "None": None, "colon in name": [("X:A", "1")],
}  # fmt: skip
ROUTES = {function.__name__: function for function in [lists, generators, objects, statuses, fields, after]}
