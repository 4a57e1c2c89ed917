"""What applications do with the event loop beside their requests."""

import asyncio
import os
import signal
import socket
import sys
import threading
import time

from exchange import answer, answer_json, whole_body
from routing import routed


async def timers(scope, receive, send, _):
    """How late timers come, in milliseconds."""
    late = []
    for delay in (0, 0.001, 0.01, 0.05):
        began = time.monotonic()
        await asyncio.sleep(delay)
        late.append((time.monotonic() - began - delay) * 1000)
    await answer_json(send, late)


ran = {}


async def schedules(scope, receive, send, _):
    """Leaves work to the loop, and ends without having waited for anything."""
    loop = asyncio.get_running_loop()
    began = time.monotonic()
    ran.clear()

    def note(name):
        ran[name] = time.monotonic() - began

    async def background():
        await asyncio.sleep(0)
        note("task")

    loop.call_soon(note, "soon")
    loop.call_later(0.05, note, "later")
    ran["kept"] = loop.create_task(background())
    await answer(send, b"scheduled")


async def scheduled(scope, receive, send, _):
    """When what was scheduled ran, in seconds."""
    del ran["kept"]
    await answer_json(send, ran)


async def threadsafe(scope, receive, send, _):
    """How long a call from another thread takes to wake the loop, in milliseconds."""
    loop = asyncio.get_running_loop()
    late = []
    for _ in range(10):
        woken = loop.create_future()
        asked = []

        def ask(woken=woken, asked=asked):
            time.sleep(0.02)
            asked.append(time.monotonic())
            loop.call_soon_threadsafe(woken.set_result, None)

        thread = threading.Thread(target=ask)
        thread.start()
        await woken
        late.append((time.monotonic() - asked[0]) * 1000)
        thread.join()
    await answer_json(send, late)


async def subprocess(scope, receive, send, _):
    """The output of another process."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(6 * 7)", stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    await answer_json(send, [output.decode(), process.returncode])


async def itself(scope, receive, send, path):
    """Asks this very server for something."""
    reader, writer = await asyncio.open_connection(*scope["server"])
    writer.write(f"GET /{path or 'hello'} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n".encode())
    response = await reader.read()
    writer.close()
    await writer.wait_closed()
    await answer(send, response.partition(b"\r\n\r\n")[2])


async def hello(scope, receive, send, _):
    """A short answer."""
    await answer(send, b"hello")


async def sockets(scope, receive, send, _):
    """A server and a client of its own, with a megabyte between them."""

    async def serve(reader, writer):
        writer.write(await reader.readexactly(1_000_000))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(b"x" * 1_000_000)
    received = await reader.readexactly(1_000_000)
    writer.close()
    server.close()
    await server.wait_closed()
    await answer(send, b"%d" % len(received))


async def descriptors(scope, receive, send, _):
    """Watches descriptors for reading and writing, adds and removes them."""
    loop = asyncio.get_running_loop()
    left, right = socket.socketpair()
    left.setblocking(False)
    right.setblocking(False)
    seen = []
    for turn in range(3):
        readable, writable = loop.create_future(), loop.create_future()
        loop.add_reader(left, readable.set_result, "readable")
        loop.add_writer(left, lambda writable=writable: writable.done() or writable.set_result("writable"))
        seen.append(await writable)
        loop.remove_writer(left)
        right.send(b"%d" % turn)
        seen.append(await readable)
        loop.remove_reader(left)
        seen.append(left.recv(10).decode())
    left.close()
    right.close()
    await answer_json(send, seen)


async def datagrams(scope, receive, send, _):
    """Sends a datagram to itself."""
    loop = asyncio.get_running_loop()
    came = loop.create_future()

    class Protocol(asyncio.DatagramProtocol):
        """Takes one datagram."""

        def datagram_received(self, data, addr):
            """Notes it."""
            came.done() or came.set_result(data)

    transport, _ = await loop.create_datagram_endpoint(Protocol, local_addr=("127.0.0.1", 0))
    transport.sendto(b"datagram", transport.get_extra_info("sockname"))
    await answer(send, await came)
    transport.close()


async def signals(scope, receive, send, _):
    """Handles a signal that the server does not."""
    loop = asyncio.get_running_loop()
    came = loop.create_future()
    loop.add_signal_handler(signal.SIGURG, lambda: came.done() or came.set_result(b"signal"))
    os.kill(os.getpid(), signal.SIGURG)
    await answer(send, await asyncio.wait_for(came, 2))
    loop.remove_signal_handler(signal.SIGURG)


async def executor(scope, receive, send, _):
    """Many short pieces of work in threads."""
    results = await asyncio.gather(*[asyncio.to_thread(pow, number, 2) for number in range(50)])
    await answer_json(send, sum(results))


async def names(scope, receive, send, _):
    """Looks a name up."""
    found = await asyncio.get_running_loop().getaddrinfo("localhost", 80, type=socket.SOCK_STREAM)
    await answer(send, b"found" if found else b"nothing")


async def soon(scope, receive, send, _):
    """Ten thousand callbacks, in order."""
    loop = asyncio.get_running_loop()
    order = []
    ended = loop.create_future()
    for number in range(10_000):
        loop.call_soon(order.append, number)
    loop.call_soon(ended.set_result, None)
    await ended
    await answer_json(send, order == list(range(10_000)))


async def failing_callback(scope, receive, send, _):
    """A callback that raises."""

    def fail():
        raise RuntimeError("callback failed on purpose")

    asyncio.get_running_loop().call_soon(fail)
    await asyncio.sleep(0.01)
    await answer(send, b"lives")


async def failing_task(scope, receive, send, _):
    """A task whose error nobody asks for."""

    async def fail():
        raise RuntimeError("task failed on purpose")

    task = asyncio.create_task(fail())
    await asyncio.sleep(0.01)
    del task
    await answer(send, b"lives")


async def busy(scope, receive, send, seconds):
    """Keeps the loop full of ready callbacks, as a loop of sleep(0) does."""
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        await asyncio.sleep(0)
    await answer(send, b"was busy")


async def idle(scope, receive, send, _):
    """The processor time of this process so far, in seconds."""
    await whole_body(receive)
    await answer_json(send, time.process_time())


app = routed(
    *[
        timers,
        schedules,
        scheduled,
        threadsafe,
        subprocess,
        itself,
        hello,
        sockets,
        descriptors,
        datagrams,
        signals,
        executor,
        names,
        soon,
    ],
    *[failing_callback, failing_task, busy, idle],
)
