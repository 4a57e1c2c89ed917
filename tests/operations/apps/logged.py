"""An application that has configured logging as the environment says, and fails when asked to."""

import logging
import os
import sys
import time


class Blocks(logging.Handler):
    """Takes the first record, and never comes back from the second."""

    count = 0

    def emit(self, record):
        self.count += 1
        if self.count > 1:
            time.sleep(3600)


class Raises(logging.Handler):
    """Fails in a way that logging itself does not catch."""

    def handle(self, record):
        raise LookupError("no room for " + record.name)


HANDLERS = {"blocks": Blocks, "raises": Raises}

how = os.environ["HOW"]
if how in HANDLERS:
    logging.getLogger("pronghorn").addHandler(HANDLERS[how]())
else:
    path, _, level = how.partition("|")
    form = "%(levelname)s|%(name)s|%(process)d|%(message)s"
    logging.basicConfig(filename=path, format=form)
    if level:
        logging.getLogger("pronghorn.error").setLevel(level)


def app(environ, start_response):
    if environ["PATH_INFO"] == "/fails":
        raise ValueError("asked to: 100% %s")
    if environ["PATH_INFO"] == "/forks":
        child = os.fork()
        if not child:
            sys.exit(0)
        os.waitpid(child, 0)
    start_response("200 OK", [])
    return [b"ok\n"]
