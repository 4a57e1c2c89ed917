"""Leaves processes behind: each request makes a grandchild whose parent is gone, and which ends after a moment."""

import os
import time


def app(environ, start_response):
    """Answers with the number of the grandchild."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        grandchild = os.fork()
        if grandchild == 0:
            time.sleep(0.3)
        else:
            os.write(writer, str(grandchild).encode())
        os._exit(0)
    os.waitpid(child, 0)
    orphan = os.read(reader, 16)
    os.close(reader)
    os.close(writer)
    start_response("200 OK", [("Content-Length", str(len(orphan)))])
    return [orphan]
