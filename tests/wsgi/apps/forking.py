"""Forks processes while it serves."""

import multiprocessing
import os
import sys
import threading
import time

children = []


def app(environ, start_response):
    """Answers with what the function for the path gave."""
    text = ROUTES[environ["PATH_INFO"]](start_response)
    start_response("200 OK", [("Content-Length", str(len(text)))])
    return [text.encode()]


def start(start_response):
    """A child that ends by a signal; gives its process id."""
    children.append(multiprocessing.get_context("fork").Process(target=idle))
    children[-1].start()
    return str(children[-1].pid)


def abandon(start_response):
    """A child that nobody waits for; gives its process id."""
    child = os.fork()
    if child == 0:
        idle()
    return str(child)


def idle():
    """Never returns. Python acts on a signal between two calls: one that came just before a long one would wait for its end."""
    while True:
        time.sleep(0.01)


def terminate(start_response):
    """How the child ends when it is told to."""
    children[-1].terminate()
    children[-1].join(5)
    return str(children[-1].exitcode)


def wait(start_response):
    """Waits until the child has ended."""
    print("waiting for the child", file=sys.stderr, flush=True)
    children[-1].join(5)
    return str(children[-1].exitcode)


def come_back(start_response):
    """A child that goes on as if it were the server; gives how it ended."""
    child = os.fork()
    if child == 0:
        return "from the child"
    return str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def fail(start_response):
    """A child that fails; gives how it ended."""
    child = os.fork()
    if child == 0:
        raise ValueError("on purpose")
    return str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def outlive(start_response):
    """A thread that outlives the server."""
    threading.Thread(target=threading.Event().wait).start()
    return "started"


ROUTES = {f"/{function.__name__}": function for function in [start, abandon, terminate, wait, come_back, fail, outlive]}
