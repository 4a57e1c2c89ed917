"""Clients that wait in the sleeping view: `slow_clients.py PORT CONNECTIONS SECONDS`.

Each asks for /sleep again as soon as it is answered, over one kept-alive connection. Prints how many were answered.
"""

import http.client
import sys
import threading
import time

REPLY_SECONDS = 10


def ask_until(port, deadline, answered):
    """Append to `answered` once for each 200 until the monotonic clock passes `deadline`."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=REPLY_SECONDS)
    try:
        while time.monotonic() < deadline:
            connection.request("GET", "/sleep")
            reply = connection.getresponse()
            reply.read()
            if reply.status == 200:
                answered.append(reply.status)
    except (OSError, http.client.HTTPException) as error:
        print(f"slow client gave up: {error!r}", file=sys.stderr)
    finally:
        connection.close()


def main():
    """Run the clients, each on its own thread, and print the count."""
    port, connections, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    answered = []
    deadline = time.monotonic() + seconds
    threads = [threading.Thread(target=ask_until, args=(port, deadline, answered)) for _ in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(len(answered))


if __name__ == "__main__":
    main()
