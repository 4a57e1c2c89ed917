"""wsgi.file_wrapper, used in every way an application may. The file is what FILE names."""

import io
import os

closed = []


def app(environ, start_response):
    """Answers as the function in ROUTES for the path does."""
    return ROUTES[environ["PATH_INFO"].lstrip("/")](environ["wsgi.file_wrapper"], start_response)


class Remembering(io.FileIO):
    """A file that tells when it is closed."""

    def close(self):
        """Closes and remembers."""
        if not self.closed:
            closed.append("closed")
        super().close()


def opened():
    """The file, and nothing remembered."""
    closed.clear()
    return Remembering(os.environ["FILE"])


def whole(wrapper, start_response):
    """The whole file."""
    start_response("200 OK", [])
    return wrapper(opened(), 8192)


def of_the_kernel(wrapper, start_response):
    """A file of /proc, which says that it is empty."""
    start_response("200 OK", [])
    return wrapper(open("/proc/version", "rb"))


def write_only(wrapper, start_response):
    """A file that cannot be read."""
    start_response("200 OK", [])
    return wrapper(io.FileIO(os.environ["FILE"], "a"))


def sized(wrapper, start_response):
    """The whole file under its length."""
    start_response("200 OK", [("Content-Length", str(os.path.getsize(os.environ["FILE"])))])
    return wrapper(opened(), 8192)


def positioned(wrapper, start_response):
    """The file from byte 100 on."""
    file = opened()
    file.seek(100)
    start_response("200 OK", [])
    return wrapper(file, 8192)


def shortened(wrapper, start_response):
    """Ten bytes of the file from byte 100 on, because the length says so."""
    file = opened()
    file.seek(100)
    start_response("200 OK", [("Content-Length", "10")])
    return wrapper(file, 8192)


def buffered(wrapper, start_response):
    """A buffered reader from which a line was read."""
    file = io.BufferedReader(opened())
    file.readline()
    start_response("200 OK", [])
    return wrapper(file)


def in_memory(wrapper, start_response):
    """A file that has no descriptor."""
    start_response("200 OK", [])
    return wrapper(io.BytesIO(b"in memory"), 4)


def iterated(wrapper, start_response):
    """The wrapper consumed by middleware."""
    start_response("200 OK", [])
    body = wrapper(opened(), 8192)
    try:
        yield from body
    finally:
        body.close()


def reader_only(wrapper, start_response):
    """An object that can only read, without close."""
    start_response("200 OK", [])

    class Reader:
        def __init__(self):
            self.read = io.BytesIO(b"only read").read

    return wrapper(Reader(), 4)


def remembered(wrapper, start_response):
    """How often a file was closed since it was opened."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(len(closed)).encode()]


ROUTES = {
    function.__name__: function
    for function in [
        whole, sized, positioned, shortened, buffered, in_memory, iterated, reader_only, of_the_kernel, write_only, remembered,
    ]
}  # fmt: skip
