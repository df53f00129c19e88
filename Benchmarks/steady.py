"""Load on a server at a steady rate, whatever its answers do."""

import selectors
import socket
import statistics
import time

from load import LoadError, Sample, TIMEOUT_SECONDS


class Steady:
    """Requests that are due at a fixed rate, whatever the answers do.

    A request's time runs from when it was due: one that is held up counts for those behind it, too.
    """

    def __init__(self, server, path, rate, connections=16):
        self.server = server
        self.connections = connections
        self.interval = 1 / rate
        self.request = f"GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n".encode()
        self.selector = None
        self.free = []
        self.milliseconds = []

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.server.port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setblocking(False)
        self.selector.register(connection, selectors.EVENT_READ, Answer())
        return connection

    def run(self, seconds):
        """A sample of the requests due within so many seconds, over connections of its own.

        Those of an earlier run could have been idle for longer than the server keeps them.
        """
        # Not epoll's: that one waits in whole milliseconds here, and requests would leave late.
        with selectors.SelectSelector() as self.selector:
            self.free = [self.connect() for _ in range(self.connections)]
            try:
                return self.sample_of(seconds)
            finally:
                for key in list(self.selector.get_map().values()):
                    key.fileobj.close()

    def sample_of(self, seconds):
        server_seconds, start = self.server.cpu_seconds(), time.monotonic()
        self.milliseconds = []
        due, end, busy = start, start + seconds, 0
        while due < end or busy:
            while self.free and due < min(end, time.monotonic()):
                self.ask(self.free.pop(), due)
                due += self.interval
                busy += 1
            wait = due - time.monotonic() if self.free and due < end else TIMEOUT_SECONDS
            events = self.selector.select(max(0, wait))
            if not events and busy and wait >= TIMEOUT_SECONDS:
                raise LoadError(f"{self.server.name} left {busy} requests without an answer")
            for key, _ in events:
                busy -= self.take(key.fileobj, key.data)
        return self.sample(self.server.cpu_seconds() - server_seconds, start, time.monotonic())

    def ask(self, connection, due):
        self.selector.get_key(connection).data.due = due
        connection.send(self.request)

    def take(self, connection, answer):
        """Reads what has come; 1 where the answer is whole, else 0."""
        piece = connection.recv(1 << 18)
        if not piece:
            raise LoadError(f"{self.server.name} closed a connection")
        if not answer.take(piece):
            return 0
        self.milliseconds.append((time.monotonic() - answer.due) * 1000)
        self.free.append(connection)
        return 1

    def sample(self, server_seconds, start, end):
        ordered = sorted(self.milliseconds)
        count, seconds = len(ordered), end - start
        rss, pss = self.server.memory()
        return Sample(
            rate=count / seconds, p50=statistics.median(ordered) * 1000,
            p99=ordered[min(count - 1, count * 99 // 100)] * 1000, longest=ordered[-1] * 1000,
            cpu=server_seconds / count * 1e6, server_core=server_seconds / seconds,
            rss=rss, pss=pss, window=(start, end))


class Answer:
    """One answer as it comes in, piece by piece."""

    def __init__(self):
        self.due = 0
        self.head = b""
        self.missing = None

    def take(self, piece):
        """Whether the answer is whole now."""
        if self.missing is None:
            self.head += piece
            end = self.head.find(b"\r\n\r\n")
            if end < 0:
                return False
            if not self.head.startswith(b"HTTP/1.1 200 "):
                raise LoadError(f"the answer is {self.head.splitlines()[0].decode()}")
            length = self.head[:end].lower().split(b"content-length:")[1].split(b"\r\n")[0]
            self.missing = end + 4 + int(length)
            piece, self.head = self.head, b""
        self.missing -= len(piece)
        if self.missing > 0:
            return False
        self.missing = None
        return True
