"""A relay in front of a server that writes down what was asked and answered."""

import http.client
import http.server
import re
import threading
import time


class PageRelay:
    """On a port of its own; use it with `with`. `page` is what it answers to `/` itself."""

    def __init__(self, server_port, page):
        self.server_port = server_port
        self.page = page
        self.lock = threading.Lock()
        self.log = []
        self.began = time.monotonic()

    def __enter__(self):
        relay = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                relay.answer(self)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()

    def passed(self, path):
        """Which bytes of the file have passed, as ranges apart from each other."""
        with self.lock:
            pieces = sorted((one["first"], one["first"] + one["sent"]) for one in self.log
                            if one["path"] == path and one["sent"])
        joined = []
        for begin, end in pieces:
            if joined and begin <= joined[-1][1]:
                joined[-1][1] = max(joined[-1][1], end)
            else:
                joined.append([begin, end])
        return joined

    def answer(self, handler):
        path = handler.path.partition("?")[0]
        if path in ("/", "/favicon.ico"):
            body = self.page.encode() if path == "/" else b""
            handler.send_response(200 if body else 404)
            handler.send_header("Content-Type", "text/html; charset=utf-8")
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body)
            return
        upstream = http.client.HTTPConnection("127.0.0.1", self.server_port, timeout=60)
        fields = {name: value for name, value in handler.headers.items()
                  if name.lower() not in ("host", "connection", "accept-encoding")}
        upstream.request("GET", handler.path, headers=fields)
        answer = upstream.getresponse()
        content_range = answer.getheader("Content-Range")
        first = int(re.match(r"bytes (\d+)", content_range)[1]) if content_range else 0
        one = {"path": path, "at": time.monotonic() - self.began, "range": handler.headers.get("Range"),
               "status": answer.status, "content_range": content_range, "first": first, "sent": 0}
        with self.lock:
            self.log.append(one)
        handler.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding"):
                handler.send_header(name, value)
        handler.send_header("Connection", "close")
        handler.close_connection = True
        handler.end_headers()
        try:
            self.pass_body(handler, answer, one)
        except OSError:
            # The browser has what it wants.
            pass
        upstream.close()

    def pass_body(self, handler, answer, one):
        while piece := answer.read(4096):
            handler.wfile.write(piece)
            with self.lock:
                one["sent"] += len(piece)
