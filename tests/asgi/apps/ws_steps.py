"""A WebSocket application that does what each message says, in one task, as libraries on top of asyncio do."""

import asyncio
import contextvars
import sys
import weakref

import anyio
import sniffio
from ws_exchange import accepted

count = contextvars.ContextVar("count", default=0)


async def app(scope, receive, send):
    """Answers each command by what its function gives."""
    await accepted(receive, send)
    await anyio.sleep(0)  # It is imported in full now, which takes its time.
    session = Session(receive)
    while True:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            return
        answer = await getattr(session, message["text"])()
        await send({"type": "websocket.send", "text": answer})


class Mark:
    """Something whose end can be seen."""


def ended_by(steps):
    """The result with which the steps end."""
    try:
        next(steps)
    except StopIteration as stop:
        return stop.value


class Session:
    """What the commands share; each gives its answer."""

    def __init__(self, receive):
        self.receive = receive
        self.task = asyncio.current_task()
        self.loop = asyncio.get_running_loop()
        self.notes = []

    async def next_text(self):
        """The text of the next message."""
        return (await self.receive())["text"]

    async def hello(self):
        """Nothing special."""
        return "hello"

    async def identity(self):
        """Whose step this is, also for libraries, and whether there is another once it is over."""
        seen = [asyncio.current_task() is self.task, sniffio.current_async_library(), self.task.done()]
        between = self.loop.create_future()
        self.loop.call_soon(lambda: between.set_result(asyncio.current_task()))
        seen.append(await between)
        return repr(seen)

    async def counted(self):
        """How often this was called in this context."""
        count.set(count.get() + 1)
        return str(count.get())

    async def timed(self):
        """Waits too short for a message, then long enough."""
        try:
            await asyncio.wait_for(self.receive(), 0.05)
        except asyncio.TimeoutError:
            return f"late {await self.next_text()}"

    async def scoped(self):
        """The same with anyio."""
        with anyio.move_on_after(0.05) as scope:
            await self.receive()
        return f"{scope.cancelled_caught} {await self.next_text()}"

    async def cancelled_waiting(self):
        """Is cancelled while it waits for a message."""
        self.loop.call_later(0.05, self.task.cancel)
        return await self.caught(self.receive())

    async def cancels_itself_and_receives(self):
        """Cancels its task: that shows at the next message, which is not lost."""
        self.task.cancel()
        return await self.caught(self.receive())

    async def cancels_itself_and_sleeps(self):
        """Cancels its task: that shows at once."""
        self.task.cancel()
        return await self.caught(asyncio.sleep(30))

    async def cancels_itself_and_its_child(self):
        """Cancels its task: that of which it waits for the end is cancelled too, and has ended first."""
        child = asyncio.ensure_future(asyncio.sleep(30))
        await asyncio.sleep(0)
        self.task.cancel()
        return f"{await self.caught(child)} {child.cancelled()}"

    async def says_why(self):
        """Cancels its task with a message, which arrives."""
        self.task.cancel("enough")
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError as error:
            return f"{error.args} {await self.next_text()}"

    async def takes_it_back(self):
        """Cancels its task and takes that back, within a step and within the next."""
        seen = []
        for _ in range(2):
            self.task.cancel()
            self.task.uncancel()
            try:
                seen.append(await self.next_text())
            except asyncio.CancelledError:
                seen.append(f"cancelled {await self.next_text()}")
        return " ".join(seen)

    async def caught(self, awaitable):
        """What becomes of waiting, and of the next message."""
        try:
            await awaitable
        except asyncio.CancelledError:
            if hasattr(self.task, "uncancel"):
                self.task.uncancel()
            return f"cancelled {await self.next_text()}"

    async def sleeps(self):
        """Waits for what is not the server's, between two messages."""
        await asyncio.sleep(0)
        first = await self.next_text()
        await asyncio.sleep(0.02)
        return first + await self.next_text()

    async def leaves_it_to_a_child(self):
        """Another task waits for the next message."""
        return await asyncio.ensure_future(self.next_text())

    async def by_hand(self):
        """Steps through `receive` and waits for what it yields in every way that a future can be waited for."""
        steps = self.receive().__await__()
        called = []
        future = next(steps)
        for number in (1, 2, 3):
            future.add_done_callback(lambda one, number=number: called.append((number, one is future)))
        removed = called.append
        future.add_done_callback(removed)
        assert future.remove_done_callback(removed) == 1
        assert await asyncio.gather(future, self.awaiting(future)) == [None, "awaited"]
        await asyncio.sleep(0)
        try:
            next(steps)
        except StopIteration as stop:
            return f"{called} {stop.value['text']}"

    async def gathered_and_cancelled(self):
        """What it yields is cancelled while it is gathered."""
        steps = self.receive().__await__()
        future = next(steps)
        self.loop.call_later(0.05, future.cancel, "enough")
        seen = await asyncio.gather(future, self.awaiting(future), return_exceptions=True)
        steps.close()
        return f"{[type(one).__name__ for one in seen]} {seen[0].args} {await self.next_text()}"

    async def waits_with_others(self):
        """Waits for a future of the server, as tasks do that came before it and others that came later."""
        return f"{await self.waited_for_with(0)} {await self.waited_for_with(1)}"

    async def waited_for_with(self, number):
        """What becomes of that many tasks that came before, of one that came later, and the message."""
        steps = self.receive().__await__()
        future = next(steps)
        watching = [asyncio.ensure_future(self.awaiting(future)) for _ in range(number)]
        await asyncio.sleep(0)
        self.loop.call_soon(lambda: watching.append(asyncio.ensure_future(self.awaiting(future))))
        await future
        return f"{await asyncio.gather(*watching)} {ended_by(steps)['text']}"

    async def gives_up_futures(self):
        """Waits in vain for two futures of the server, one after the other, and then for a third."""
        seen = []
        for _ in range(2):
            steps = self.receive().__await__()
            future = next(steps)
            self.loop.call_later(0.02, self.task.cancel)
            try:
                await future
            except asyncio.CancelledError:
                seen.append(future.cancelled())
                if hasattr(self.task, "uncancel"):
                    self.task.uncancel()
        last = self.receive().__await__()
        await next(last)
        return f"{seen} {ended_by(last)['text']}"

    async def steps_in_a_handler(self):
        """Takes a message while it handles an exception: nothing of that is kept once it is over."""
        mark = Mark()
        known = weakref.ref(mark)
        self.loop.call_later(0.1, lambda: self.notes.append(known() is None))
        try:
            raise ValueError(mark)
        except ValueError:
            steps = self.receive().__await__()
            await next(steps)
            message = ended_by(steps)
        del mark
        return message["text"]

    async def noted(self):
        """What was noted of that."""
        return str(self.notes.pop())

    async def keeps_nothing(self):
        """How many refer to a message that was there before it was asked for, outside of a turn of the server."""
        await asyncio.sleep(0.05)
        message = ended_by(self.receive().__await__())
        await asyncio.sleep(0)
        return str(sys.getrefcount(message))

    async def awaiting(self, future):
        """Awaits the future itself."""
        await future
        return "awaited"

    async def nests(self):
        """Runs the loop within a step, as nest_asyncio does, while its own task is cancelled."""
        cancelled = []
        self.loop.call_later(0.02, lambda: cancelled.append(self.task.cancel()))
        asyncio.tasks._leave_task(self.loop, self.task)
        while not cancelled:
            self.loop._run_once()
        self.loop.call_soon(int)  # So that this round does not wait.
        self.loop._run_once()
        asyncio.tasks._enter_task(self.loop, self.task)
        return await self.caught(self.receive())

    async def fails(self):
        """Fails."""
        raise RuntimeError("told to fail")

    async def closes(self):
        """Ends its task in the middle."""
        raise asyncio.CancelledError
