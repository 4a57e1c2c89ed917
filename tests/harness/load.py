"""A steady load over real sockets that notices every request which was not answered as it should be.

One thread and one selector, so that it costs little beside the servers it is there for. Requests go out when they are due, whatever
became of those before.
"""

from __future__ import annotations

import itertools
import selectors
import socket
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.client import Address

NO_ANSWER_AFTER = 15.0


@dataclass(frozen=True)
class Failure:
    """A request that was not answered: why, on a kept connection or one of its own, when it was due and when it failed (monotonic
    seconds), and the process that answered on that connection before, 0 when none had."""

    reason: str
    kept: bool
    due: float
    failed: float
    worker: int


@dataclass(frozen=True)
class Answer:
    """An answered request: when it was due, how many seconds it took from then, and the process that answered."""

    due: float
    seconds: float
    worker: int


@dataclass
class Report:
    """What became of the requests of a load."""

    answers: list[Answer] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def workers(self) -> Counter[int]:
        """How many answers each process gave."""
        return Counter(answer.worker for answer in self.answers)

    def percentile(self, share: float, since: float = 0.0, until: float = float("inf")) -> float:
        """The latency, in seconds, that this share of the requests due in that time stayed within."""
        latencies = sorted(answer.seconds for answer in self.answers if since <= answer.due < until)
        assert latencies, "no request was answered in that time"
        return latencies[min(len(latencies) - 1, int(share * len(latencies)))]

    def assert_nothing_lost(self) -> None:
        """Every request was answered."""
        assert self.answers and not self.failures, f"{self}: {self.failures[:5]}"

    def assert_lost_to(self, kills: Sequence[tuple[float, int]]) -> None:
        """Each request that failed was under way, on a connection of that worker if one is known, when a worker was killed.

        `kills` are times (monotonic) and process ids.
        """
        assert self.answers, str(self)
        for failure in self.failures:
            during = {worker for at, worker in kills if failure.due <= at + 0.1 and failure.failed >= at - 0.1}
            assert during and failure.worker in {0, *during}, f"{self}: {failure}"

    def __str__(self) -> str:
        reasons = Counter((failure.reason, "kept" if failure.kept else "fresh") for failure in self.failures)
        return f"{len(self.answers)} answered by {len(self.workers())} processes; failed: {dict(reasons)}"


class Load:
    """So many requests a second on kept-alive connections, and so many on a connection each.

    The application answers `/ID`, or what `path` makes of it, with its process id and the ID. A client that is told to close, or sees
    an idle connection closed, connects anew, as any client must; a request that was sent is never sent again.
    """

    def __init__(self, address: Address, kept: float = 200, fresh: float = 200, path: str = "/{id}"):
        self._address = address
        self._path = path
        self._report = Report()
        self._selector = selectors.DefaultSelector()
        self._idle: list[_Connection] = []
        self._busy: dict[str, _Connection] = {}
        self._names = map(str, itertools.count(1))
        self._timetables = [_Timetable(kept, True), _Timetable(fresh, False)]
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True, name="load")

    def __enter__(self) -> Load:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begins to send."""
        for timetable in self._timetables:
            timetable.begin(time.monotonic())
        self._thread.start()

    def stop(self) -> Report:
        """Sends no more, waits for the answers that are missing and gives the report."""
        self._ending.set()
        self._thread.join(2 * NO_ANSWER_AFTER)
        assert not self._thread.is_alive(), "the load does not end"
        return self._report

    @property
    def report(self) -> Report:
        """What has become of the requests so far."""
        return self._report

    def in_flight(self) -> list[tuple[bool, int]]:
        """The requests without an answer yet: whether kept, and the process that answered on that connection before (0: none)."""
        return [(connection.kept, connection.worker) for connection in list(self._busy.values())]

    def _run(self) -> None:
        while not self._ending.is_set() or self._busy:
            now = time.monotonic()
            if not self._ending.is_set():
                for timetable in self._timetables:
                    for due in timetable.due(now):
                        self._send(due, timetable.kept)
            self._give_up(now)
            for key, _ in self._selector.select(self._pause()):
                self._serve(key.data)
        for connection in self._idle:
            connection.socket.close()
        self._selector.close()

    def _pause(self) -> float:
        if self._ending.is_set():
            return 0.05
        now = time.monotonic()
        return max(0.0, min(0.05, min(timetable.next for timetable in self._timetables) - now))

    def _send(self, due: float, kept: bool) -> None:
        connection = self._open(kept)
        name = next(self._names)
        connection.ask(name, self._path.format(id=name), due)
        self._busy[name] = connection
        self._watch(connection)

    def _open(self, kept: bool) -> _Connection:
        while kept and self._idle:
            connection = self._idle.pop(0)
            if not connection.has_ended():
                return connection
            self._drop(connection)
        return self._connect(kept)

    def _connect(self, kept: bool) -> _Connection:
        connection = _Connection(self._address, kept)
        self._selector.register(connection.socket, selectors.EVENT_WRITE, connection)
        return connection

    def _watch(self, connection: _Connection) -> None:
        wanted = selectors.EVENT_WRITE if connection.unsent else selectors.EVENT_READ
        self._selector.modify(connection.socket, wanted, connection)

    def _serve(self, connection: _Connection) -> None:
        try:
            worker = connection.go_on()
        except (OSError, ValueError) as error:
            self._end(connection, f"{type(error).__name__}: {error}")
            return
        if worker is None:
            self._watch(connection)
            return
        self._report.answers.append(Answer(connection.due, time.monotonic() - connection.due, worker))
        del self._busy[connection.name]
        connection.rest(worker)
        if connection.closes:
            self._drop(connection)
        else:
            self._idle.append(connection)

    def _end(self, connection: _Connection, reason: str) -> None:
        """A connection that is of no use any more; a failure if it had a request."""
        if self._busy.pop(connection.name, None):
            failure = Failure(reason, connection.kept, connection.due, time.monotonic(), connection.worker)
            self._report.failures.append(failure)
        else:
            self._idle.remove(connection)
        self._drop(connection)

    def _drop(self, connection: _Connection) -> None:
        self._selector.unregister(connection.socket)
        connection.socket.close()

    def _give_up(self, now: float) -> None:
        for connection in [one for one in self._busy.values() if now - one.due > NO_ANSWER_AFTER]:
            self._end(connection, f"no answer within {NO_ANSWER_AFTER} s")


class _Timetable:
    """When the requests of one kind are due."""

    def __init__(self, rate: float, kept: bool):
        self.kept = kept
        self.next = float("inf")
        self._interval = 1 / rate if rate else float("inf")

    def begin(self, now: float) -> None:
        """The first request is due one interval from now."""
        self.next = now + self._interval

    def due(self, now: float) -> list[float]:
        """The times, until now, at which a request was due that has not been given out."""
        times = []
        while self.next <= now:
            times.append(self.next)
            self.next += self._interval
        return times


class _Connection:
    """One connection, and the request on it."""

    def __init__(self, address: Address, kept: bool):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.setblocking(False)
        self.kept = kept
        self.worker = 0
        self.name = ""
        self.due = 0.0
        self.unsent = b""
        self.closes = not kept
        self._received = b""
        try:
            self.socket.connect(address)
        except OSError:  # in progress; what else there may be comes with the first send
            pass

    def has_ended(self) -> bool:
        """Whether the server has closed it."""
        try:
            return self.socket.recv(1, socket.MSG_PEEK) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def ask(self, name: str, path: str, due: float) -> None:
        """A request is to be sent."""
        persistence = "" if self.kept else "Connection: close\r\n"
        self.name, self.due = name, due
        self.unsent = f"GET {path} HTTP/1.1\r\nHost: test\r\n{persistence}\r\n".encode()

    def rest(self, worker: int) -> None:
        """The request is answered."""
        self.worker, self.name, self._received = worker, "", b""

    def go_on(self) -> int | None:
        """Sends, or receives, what the socket takes or has; the process that answered, once the answer is complete."""
        if self.unsent:
            self.unsent = self.unsent[self.socket.send(self.unsent) :]
            return None
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError("closed in an answer" if self._received else "closed without an answer")
        self._received += piece
        return self._answered()

    def _answered(self) -> int | None:
        head, end, body = self._received.partition(b"\r\n\r\n")
        if not end:
            return None
        status, *lines = head.decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        if len(body) < int(fields.get("content-length", "unknown length")):
            return None
        self.closes = not self.kept or fields.get("connection", "").lower() == "close"
        worker, _, name = body.decode("latin-1").partition(" ")
        if not status.startswith("HTTP/1.1 200 ") or name != self.name:
            raise ValueError(f"{status}, with the body {body!r}")
        return int(worker)
