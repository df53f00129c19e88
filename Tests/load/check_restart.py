#!/usr/bin/env python3
"""Restarts without a gap: check_restart.py PROGRAM [ROUNDS] (10).

One server takes the place of another on the same port and database, time and again, while clients ask: some with a
connection for each request, some with one that they keep, as browsers and proxies do. A request of those fails where it
is refused, reset or cut off; one on a connection that was kept, and that the server closed before it answered anything,
is sent once more (RFC 9112 section 9.3.1). Who takes longer to send a request than the quarter of a second that a
server gives a new connection then (`drainSilenceMilliseconds`) is late, and counted apart: this machine has more to do
than it can. Status 1 where one failed.
"""
import http.client
import pathlib
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from running import RunningServer  # noqa: E402

TARGETS = ["/rp/?feed=featured", "/v1/feeds", "/rp/?feed=newest&limit=5", "/v1/items/first-ferry"]


class Clients:
    def __init__(self, port):
        self.port, self.is_over = port, False
        self.answers, self.again, self.late, self.failures = 0, 0, 0, []
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(number,)) for number in range(16)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        keeps, connection, asked = number % 2 == 0, None, number
        while not self.is_over:
            asked += 1
            is_kept, start = connection is not None, time.monotonic()
            try:
                connection = connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
                connection.request("GET", TARGETS[asked % len(TARGETS)])
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    raise RuntimeError(f"status {answer.status}")
                with self.lock:
                    self.answers += 1
                if not keeps or answer.will_close:
                    connection.close()
                    connection = None
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError) as error:
                connection = None
                with self.lock:
                    if is_kept:
                        self.again += 1
                    else:
                        self.fail(error, start)
            except Exception as error:
                connection = None
                with self.lock:
                    self.fail(error, start)

    def fail(self, error, start):
        took = time.monotonic() - start
        if took > 0.25 and not isinstance(error, ConnectionRefusedError):
            self.late += 1
        else:
            self.failures.append(f"{error!r} after {took:.2f} s")

    def end(self):
        self.is_over = True
        for thread in self.threads:
            thread.join()


def main():
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    with tempfile.TemporaryDirectory() as folder:
        server = RunningServer(program, folder, "--share-port")
        server.__enter__()
        clients = Clients(server.port)
        took = []
        try:
            for _ in range(rounds):
                time.sleep(0.3)
                start = time.monotonic()
                after = RunningServer(program, folder, "--share-port")
                after.port = server.port
                # Returns when it serves.
                after.start()
                status = server.terminate()
                took.append(time.monotonic() - start)
                if status != 0:
                    clients.failures.append(f"the server ended with {status}")
                server = after
            time.sleep(0.3)
        finally:
            clients.end()
            server.terminate()
    print(f"{rounds} restarts, {max(took):.1f} s at the most; {clients.answers} answers, {len(clients.failures)} requests "
          f"failed, {clients.again} on connections that were kept were sent again, {clients.late} clients were late")
    for failure in sorted(set(clients.failures)):
        print(f"     {clients.failures.count(failure)} times {failure}")
    return 1 if clients.failures or not clients.answers else 0


if __name__ == "__main__":
    sys.exit(main())
