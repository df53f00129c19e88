#!/usr/bin/env python3
"""Opens many connections at once, sends a request on each, and holds them all.

    flood.py PORT COUNT

Prints `{"outcome": count}` as JSON when every connection has its outcome, then waits for a line on
standard input and closes them. A program of its own, since a process may hold too few descriptors for
all of them.
"""

import collections
import json
import resource
import selectors
import socket
import sys
import time

REQUEST = b"GET /rp/?feed=featured&limit=1 HTTP/1.1\r\nHost: flood\r\n\r\n"
AT_ONCE = 500
WITHIN_SECONDS = 90


class Flood:
    def __init__(self, port, count):
        self.port = port
        self.missing = count
        self.selector = selectors.DefaultSelector()
        self.outcomes = collections.Counter()
        self.held = []
        self.pending = 0

    def run(self):
        end = time.monotonic() + WITHIN_SECONDS
        while (self.missing or self.pending) and time.monotonic() < end:
            while self.missing and self.pending < AT_ONCE:
                self.open()
            for key, _ in self.selector.select(timeout=1):
                self.advance(key.fileobj)
        self.outcomes["no answer in time"] += self.pending + self.missing

    def open(self):
        self.missing -= 1
        connection = socket.socket()
        connection.setblocking(False)
        connection.connect_ex(("127.0.0.1", self.port))
        self.selector.register(connection, selectors.EVENT_WRITE)
        self.pending += 1

    def advance(self, connection):
        try:
            if self.selector.get_key(connection).events == selectors.EVENT_WRITE:
                connection.send(REQUEST)
                self.selector.modify(connection, selectors.EVENT_READ)
                return
            answer = connection.recv(4096)
            self.settle(connection, answer[9:12].decode() if answer else "closed without an answer")
        except OSError as error:
            self.settle(connection, type(error).__name__)

    def settle(self, connection, outcome):
        self.outcomes[outcome] += 1
        self.pending -= 1
        self.selector.unregister(connection)
        if outcome == "200":
            self.held.append(connection)
        else:
            connection.close()


def main(port, count):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    flood = Flood(port, count)
    flood.run()
    print(json.dumps(flood.outcomes), flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
