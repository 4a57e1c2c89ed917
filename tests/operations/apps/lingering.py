"""An application that leaves threads and processes behind, and one that starts a thread as it is imported."""

import os
import threading
import time

threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()


def app(environ, start_response):
    """`/thread` starts one that Python waits 4 s for, `/process` one that holds all that is open for 30 s; else answers."""
    what = environ["PATH_INFO"]
    if what == "/thread":
        threading.Thread(target=time.sleep, args=(4,)).start()
    if what == "/process" and os.fork() == 0:
        time.sleep(30)
        os._exit(0)
    if what == "/slow":
        time.sleep(3)
    body = str(os.getpid()).encode()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
