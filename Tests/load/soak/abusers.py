"""Clients that go away in the middle, dawdle, and talk nonsense; to be endured, and no more."""

import socket
import struct
import time

from running import TOKEN
from soak.client import Client

PAGE = b"GET /rp/?feed=soak&limit=100 HTTP/1.1\r\nHost: abuser\r\n\r\n"
IMPORT = (
    b"POST /v1/import HTTP/1.1\r\nHost: abuser\r\nContent-Type: application/x-ndjson\r\n"
    b"Authorization: Bearer " + TOKEN.encode() + b"\r\n"
)


class Abuser(Client):
    """Opens a connection, does one thing, and resets it."""

    pause_seconds = 0.02

    def turn(self):
        acts = [self.half_a_head, self.unread_answers, self.half_an_import, self.half_a_media_file,
                self.nonsense, self.half_a_put, self.dawdle, self.broken_chunks]
        act = self.random.choice(acts)
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
                act(connection)
                # Closing resets the connection, whatever is under way.
                connection.setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            # Whoever behaves so may be cut off at any time.
            pass
        self.tally.count("aborted clients")

    def half_a_head(self, connection):
        connection.sendall(PAGE[:self.random.randrange(1, len(PAGE))])

    def unread_answers(self, connection):
        connection.sendall(PAGE * self.random.randrange(1, 20))
        time.sleep(self.random.random() * 0.02)

    def half_an_import(self, connection):
        record = b'{"id":"cut-%d","type":"text","feeds":["x"]}\n'
        good = b'{"id":"cut-%d","type":"text","feeds":[{"name":"cut"}]}\n'
        lines = b"".join((good if number % 3 else record) % number for number in range(2500))
        connection.sendall(IMPORT + b"Content-Length: 100000000\r\n\r\n" + lines)
        time.sleep(self.random.random() * 0.05)

    def half_a_media_file(self, connection):
        connection.sendall(b"GET /media/short.mp4 HTTP/1.1\r\nHost: abuser\r\n\r\n")
        connection.recv(self.random.randrange(1, 60_000))

    def half_a_put(self, connection):
        connection.sendall(
            b"PUT /v1/items/abuse HTTP/1.1\r\nHost: abuser\r\nContent-Type: application/json\r\n"
            b"Authorization: Bearer " + TOKEN.encode() + b"\r\nContent-Length: 5000\r\n\r\n{\"type\"")

    def nonsense(self, connection):
        connection.sendall(self.random.randbytes(self.random.randrange(1, 5000)))
        connection.recv(4096)

    def broken_chunks(self, connection):
        connection.sendall(IMPORT + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n")
        connection.recv(4096)

    def dawdle(self, connection):
        for start in range(0, len(PAGE), 6):
            connection.sendall(PAGE[start:start + 6])
            time.sleep(0.02)
        while len(connection.recv(512)) == 512 and self.random.random() < 0.9:
            time.sleep(0.005)
