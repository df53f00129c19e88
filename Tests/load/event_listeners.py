#!/usr/bin/env python3
"""Many clients that listen for events: event_listeners.py PROGRAM [CLIENTS] (5000).

Starts a server of its own, has so many clients listen to one feed, writes an item ten times, and says how much
memory the clients take of the server and how long a write takes from its answer to the last client's event.
Status 1 where a client missed one.
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


def put(port, number):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/items/news-{number}", method="PUT",
        data=json.dumps({"type": "image", "feeds": [{"name": "live", "rank": WRITES + 1 - number}]}).encode(),
        headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"})
    urllib.request.urlopen(request).close()


def read_all(selector, clients, end, deadline):
    """Until each client has got `end` once more; how many have not when it is late."""
    waiting = set(clients)
    while waiting and time.monotonic() < deadline:
        for key, _ in selector.select(deadline - time.monotonic()):
            client = key.fileobj
            clients[client] += client.recv(65536)
            if end in clients[client]:
                clients[client] = b""
                waiting.discard(client)
    return len(waiting)


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
            put(port, 0)
            before = resident(server.pid)
            selector = selectors.DefaultSelector()
            clients = {}
            for _ in range(count):
                client = socket.create_connection(("127.0.0.1", port))
                client.sendall(b"GET /v1/feeds/live/events HTTP/1.1\r\nHost: x\r\n\r\n")
                clients[client] = b""
                selector.register(client, selectors.EVENT_READ)
            missed += read_all(selector, clients, b"\n\n", time.monotonic() + 60)
            took = []
            for number in range(1, WRITES + 1):
                put(port, number)
                start = time.monotonic()
                missed += read_all(selector, clients, b"data: ", start + 30)
                took.append((time.monotonic() - start) * 1000)
            memory = (resident(server.pid) - before) / count
            print(f"{count} listeners: {memory:.1f} KiB each; from a write's answer to the last event "
                  f"{statistics.median(took):.0f} ms (median of {WRITES}, at the most {max(took):.0f}); "
                  f"{missed} missed")
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
