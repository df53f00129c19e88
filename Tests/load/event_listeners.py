#!/usr/bin/env python3
"""Many clients that listen for events: event_listeners.py PROGRAM [CLIENTS] (5000).

Starts a server of its own, has a number of clients listen to one feed, all in one moment, writes an item ten times, and
says how much memory the clients take of the server and how long a write takes from its answer to the last client's
event. Then all come back in one moment after the feed was ranked anew, as browsers do whose connection ended. Status 1
where a client was refused or missed an event.
"""
import json
import os
import resource
import selectors
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

TOKEN = "0123456789abcdef0123456789abcdef"
WRITES = 10


def resident(pid):
    with open(f"/proc/{pid}/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def put(port, name, rank, token=TOKEN):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/items/{name}", method="PUT",
        data=json.dumps({"type": "image", "feeds": [{"name": "live", "rank": rank}]}).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
    urllib.request.urlopen(request).close()


class Clients:
    """Clients of one server, each with what it has not yet been asked for."""

    def __init__(self, port, count):
        self.selector = selectors.DefaultSelector()
        self.received = {socket.create_connection(("127.0.0.1", port)): b"" for _ in range(count)}
        for client in self.received:
            self.selector.register(client, selectors.EVENT_READ)

    def ask(self, fields=""):
        """All in one moment."""
        request = f"GET /v1/feeds/live/events HTTP/1.1\r\nHost: x\r\n{fields}\r\n".encode()
        for client in self.received:
            client.sendall(request)

    def read(self, end, seconds):
        """Until each has got `end` once more: the texts, how many have not got it, and after how many seconds."""
        start = time.monotonic()
        waiting, texts = set(self.received), set()
        while waiting and time.monotonic() < start + seconds:
            for key, _ in self.selector.select(1):
                client = key.fileobj
                bytes_ = client.recv(65536)
                self.received[client] += bytes_
                if not bytes_:
                    self.selector.unregister(client)
                at = self.received[client].find(end)
                if at >= 0 and b"\n\n" in self.received[client][at:]:
                    texts.add(self.received[client][at:].split(b"\n\n")[0])
                    self.received[client] = b""
                    waiting.discard(client)
        return texts, len(waiting), time.monotonic() - start

    def close(self):
        self.selector.close()
        for client in self.received:
            client.close()


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    fixtures = os.path.join(os.path.dirname(__file__), "../../Fixtures/featured.ndjson")
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        database = f"{folder}/feed.sqlite"
        subprocess.run([program, "seed", "--database", database, fixtures], check=True, capture_output=True)
        server = subprocess.Popen(
            [program, "serve", "--database", database, "--port", "0", "--log-level", "error",
             "--event-listeners", str(count)],
            env={**os.environ, "LOOKAHEAD_WRITE_TOKEN": TOKEN}, stdout=subprocess.PIPE, text=True)
        try:
            port = int(server.stdout.readline().rstrip("/\n").rsplit(":", 1)[1])
            put(port, "first", WRITES + 1)
            put(port, "second", WRITES + 2)
            before = resident(server.pid)
            clients = Clients(port, count)
            clients.ask()
            greetings, late, let_in = clients.read(b"retry: ", 60)
            missed += late
            took = []
            for number in range(1, WRITES + 1):
                put(port, f"news-{number}", WRITES + 1 - number)
                _, late, seconds = clients.read(b"event: newer", 30)
                missed += late
                took.append(seconds * 1000)
            memory = (resident(server.pid) - before) / count
            clients.close()
            print(f"{count} listeners: {memory:.1f} KiB each; let in at once in {let_in * 1000:.0f} ms; from a write's "
                  f"answer to the last event {statistics.median(took):.0f} ms (median of {WRITES}, at the most "
                  f"{max(took):.0f}); {missed} missed")
            # The feed is ranked anew: where they were has to be compared with where it is now.
            put(port, "second", 0)
            clients = Clients(port, count)
            clients.ask(f"Last-Event-ID: {greetings.pop().decode().split('id: ')[1]}\r\n")
            _, late, back = clients.read(b"event: newer", 60)
            clients.close()
            print(f"back in one moment, after a new ranking: all told in {back * 1000:.0f} ms; {late} missed")
            missed += late
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
