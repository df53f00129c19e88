"""A client that looks at every answer, and the tally of all clients together."""

import collections
import gzip
import http.client
import json
import random
import threading
import time

from running import TOKEN

AUTHORIZATION = {"Authorization": f"Bearer {TOKEN}"}


class Tally:
    """What all clients did and found; the same for all threads."""

    MOST_PROBLEMS = 50

    def __init__(self, server, seed):
        self.server = server
        self.seed = seed
        self.lock = threading.Lock()
        self.answers = collections.Counter()
        self.events = collections.Counter()
        self.problems = []
        # When each item was last asked to be deleted.
        self.deleted_at = {}
        # Set when the clients should stop; `ending` when the server has been told to end, too.
        self.stopped = threading.Event()
        self.ending = threading.Event()

    def count(self, event, number=1):
        with self.lock:
            self.events[event] += number

    def problem(self, text):
        """Something that should not be; the first are kept and all are counted."""
        with self.lock:
            self.events["problems"] += 1
            if len(self.problems) < self.MOST_PROBLEMS:
                self.problems.append(text)

    def start(self, client_types, first_number=0):
        """A thread for each client; each with random numbers and a number of its own."""
        clients = [kind(self, f"{self.seed}.{number}")
                   for number, kind in enumerate(client_types, first_number)]
        for client in clients:
            client.thread.start()
        return clients


class NoAnswer(Exception):
    """The connection ended before an answer was there."""


class Client:
    """A thread that does `turn` again and again on one connection, until the tally says stop."""

    pause_seconds = 0.002

    def __init__(self, tally, seed):
        self.tally = tally
        self.port = tally.server.port
        self.random = random.Random(seed)
        self.name = f"{type(self).__name__}-{seed.rsplit('.', 1)[1]}"
        self.connection = None
        self.thread = threading.Thread(target=self.run, daemon=True)

    def prepare(self):
        """What has to be there before the first turn."""

    def turn(self):
        """One step of the client's work."""
        raise NotImplementedError

    def run(self):
        self.prepare()
        while not self.tally.stopped.is_set():
            try:
                self.turn()
            except NoAnswer:
                # Counted where it happened. Whoever keeps an account cannot go on with it.
                break
            except Exception as error:
                self.tally.problem(f"{self.name}: {type(error).__name__}: {error}")
            time.sleep(self.pause_seconds)
        self.disconnect()

    def disconnect(self):
        if self.connection:
            self.connection.close()
        self.connection = None

    def connected(self):
        """The connection, made where there is none. Raises NoAnswer where the server has ended."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            try:
                self.connection.connect()
            except OSError as error:
                self.disconnect()
                if self.tally.ending.is_set():
                    self.tally.count("not connected after the end")
                else:
                    self.tally.problem(f"{self.name}: not connected: {error}")
                raise NoAnswer
        return self.connection

    # A write that found the database busy was undone: it is sent again, as `Retry-After` says, so often.
    MOST_TRIES = 20

    def ask(self, method, path, allowed, fields=(), body=None, chunked=False):
        """Status, fields and body of an answer that was looked at; raises NoAnswer without one."""
        for rest in reversed(range(self.MOST_TRIES if not chunked else 1)):
            answer = self.ask_once(
                method, path, {*allowed, 503} if rest else allowed, fields, body, chunked)
            if answer[0] != 503 or 503 in allowed or not rest:
                return answer
            self.tally.stopped.wait(int(answer[1]["Retry-After"] or 1))

    def ask_once(self, method, path, allowed, fields, body, chunked):
        connection = self.connected()
        try:
            connection.request(method, path, body, dict(fields), encode_chunked=chunked)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self.disconnect()
            if self.tally.ending.is_set():
                self.tally.count("lost at the end")
            self.tally.problem(f"{self.name}: no answer to {method} {path}: {error!r}")
            raise NoAnswer
        if answer.will_close:
            self.disconnect()
        with self.tally.lock:
            self.tally.answers[f"{method} {answer.status}"] += 1
        self.look_at(f"{method} {path}", answer, content, allowed)
        if answer.headers["Content-Encoding"] == "gzip":
            content = gzip.decompress(content)
        return answer.status, answer.headers, content

    def look_at(self, what, answer, content, allowed):
        """Whether an answer is one of those that the request may have, and well formed."""
        fields = answer.headers
        wrong = []
        if answer.status not in allowed:
            wrong.append(f"{content[:200]}")
        if not fields["X-Request-Id"]:
            wrong.append("no X-Request-Id")
        kind = (fields["Content-Type"] or "").split(";")[0]
        if answer.status >= 400 and kind != "application/problem+json":
            wrong.append(f"Content-Type {kind}")
        if answer.status == 304 and content:
            wrong.append("a body")
        if kind.endswith("json") and what[:4] != "HEAD":
            try:
                self.parsed(fields, content)
            except ValueError as error:
                wrong.append(f"{error}: {content[:100]}")
        if answer.status == 503:
            self.tally.count("503")
            if not fields["Retry-After"]:
                wrong.append("no Retry-After")
        for text in wrong:
            self.tally.problem(f"{self.name}: {what}: {answer.status}: {text}")

    def parsed(self, fields, content):
        """The document; brotli, which the standard library cannot read, is taken as it is."""
        coding = fields["Content-Encoding"]
        if coding == "br":
            return None
        return json.loads(gzip.decompress(content) if coding == "gzip" else content)

    def expect(self, holds, text):
        if not holds:
            self.tally.problem(f"{self.name}: {text}")
