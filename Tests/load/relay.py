"""Stands between a server and its object store, and breaks what goes through: by name, at once, for all connections."""

import contextlib
import socket
import struct
import threading
import time


class Relay:
    """Passes bytes on to a port of this machine, unless it is told otherwise.

    `mode` is one of: "pass"; ("status", code, name): answers so itself; ("first", count, code, name): does so with the first
    this many requests, and passes the others; ("cut", count): passes this many bytes of each connection's answers and resets
    it; ("slow", seconds): waits before each piece of an answer; ("drip", seconds): does so before each byte; ("bytes", data):
    answers with these bytes; "silent": takes requests and says nothing; "gone": nobody listens.
    """

    def __init__(self, target):
        self.target = target
        self.mode = "pass"
        self.lock = threading.Lock()
        self.sockets = set()
        self.listener = None
        self.port = 0
        self.answered = self.left = 0
        self._listen()

    def _listen(self):
        listener = socket.create_server(("127.0.0.1", self.port), backlog=512)
        self.port = listener.getsockname()[1]
        self.listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def set(self, mode):
        """From now on so; what is under way is reset."""
        with self.lock:
            was, self.mode = self.mode, mode
            self.left = mode[1] if mode[0] == "first" else 0
            sockets, self.sockets = self.sockets, set()
        if mode == "gone" and was != "gone":
            # Wakes whoever accepts: to close the descriptor alone would leave the port open.
            with contextlib.suppress(OSError):
                self.listener.shutdown(socket.SHUT_RDWR)
            self.listener.close()
        for one in sockets:
            reset(one)
        if was == "gone" and mode != "gone":
            self._listen()

    def _accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with self.lock:
                mode = self.mode
                if mode[0] == "first":
                    mode = ("status", *mode[2:]) if self.left else "pass"
                    self.left -= bool(self.left)
                self.sockets.add(client)
            threading.Thread(target=self._serve, args=(client, mode), daemon=True).start()

    def _serve(self, client, mode):
        with contextlib.suppress(OSError):
            if mode == "pass" or mode[0] in ("cut", "slow", "drip"):
                store = socket.create_connection(("127.0.0.1", self.target))
                with self.lock:
                    self.sockets.add(store)
                threading.Thread(target=self._copy, args=(client, store), daemon=True).start()
                self._copy(store, client, **({} if mode == "pass" else {mode[0]: mode[1]}))
            elif mode == "silent":
                while client.recv(65536):
                    pass
            else:
                self._answer(client, mode)
        reset(client)

    def _copy(self, source, target, cut=None, slow=0, drip=0):
        limit = cut
        with contextlib.suppress(OSError):
            while True:
                data = source.recv(1 if drip else 65536)
                time.sleep(slow or drip)
                if not data:
                    target.shutdown(socket.SHUT_WR)
                    return
                if limit is not None and len(data) >= limit:
                    target.sendall(data[:limit])
                    # What was sent arrives before the end of it.
                    time.sleep(0.05)
                    reset(target)
                    reset(source)
                    return
                limit = None if limit is None else limit - len(data)
                target.sendall(data)

    def _answer(self, client, mode):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = client.recv(65536)
            if not piece:
                return
            data += piece
        self.answered += 1
        if mode[0] == "bytes":
            client.sendall(mode[1])
        else:
            body = b"" if data.startswith(b"HEAD") else f"<Error><Code>{mode[2]}</Code></Error>".encode()
            client.sendall(f"HTTP/1.1 {mode[1]} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
                           + body)
        client.shutdown(socket.SHUT_WR)
        client.settimeout(5)
        while client.recv(65536):
            pass


def reset(one):
    """Closes at once; the other end hears a reset."""
    with contextlib.suppress(OSError):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    # Wakes a thread that reads from it.
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
