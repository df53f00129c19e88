"""Where requests begin and end in a stream of bytes: our server beside h11, another parser of HTTP/1.1.

Each request has an id that its answer repeats. What the server answers under such an id is what it took
for a request, and h11 has to have found the same ones, in the same order: the server may refuse more, and
see nothing that h11 does not see.

Through a proxy, which sends the requests of many clients over the same connections, the answers of a
stream have to be its own, in their order: where the two saw different requests, answers go astray.
"""

import random
import re
import socket

from caches import Proxy
from checks import Skipped, require
from running import TOKEN

try:
    import h11
except ImportError:
    h11 = None

TIMEOUT_SECONDS = 30
PATIENCE_SECONDS = 0.05
# With these, and with the connection closed, the server refuses what is not HTTP/1.1.
REFUSALS = {400, 408, 413, 414, 417, 431, 501, 505}

# What a request is made of: what is right, and what is not, or seldom.
METHODS = [b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS"], [
    b"get", b"GE T", b"", b"G\x00T", b"BREW", b"G(T"]
TARGETS = [b"/healthz", b"/v1/items/x", b"/rp/?feed=featured&limit=1", b"/no%20where"], [
    b"*", b"http://host/healthz", b"/a b", b"/\x80", b"/\x00", b"/a#b", b"", b"//", b"host:80", b"/%zz"]
VERSIONS = [b"HTTP/1.1"], [
    b"HTTP/1.0", b"HTTP/1.2", b"HTTP/2.0", b"http/1.1", b"HTTP/1.1 ", b"HTTP/1", b"HTTP/11.1", b""]
ENDS = [b"\r\n"], [b"\n", b"\r", b"\r\r\n", b"\n\r", b" \r\n"]
HOSTS = [[b"Host: h"]], [
    [], [b"Host: h", b"Host: h"], [b"Host: a", b"host: b"], [b"Host:"], [b"Host : h"], [b"Host: a b"]]
FIELDS = [
    b"Accept: */*", b"X-Empty:", b"X-Tab:\tvalue\t", b"x-lower: 1", b"Cookie: a=b; c=d",
    b"X-Quoted: \"a, b\"", b"Connection: keep-alive"], [
    b" Folded: first", b"X: a\r\n folded", b"X: a\n b", b"X-Nul: a\x00b", b"X-Latin: \xe9",
    b"No-Colon", b": no name", b"Sp ace: 1", b"X-CR: a\rb", b"X-Del: \x7f", b"Connection: close",
    b"X(: 1", b"\xe9: 1", b"X-Long: " + b"x" * 9000]
LENGTHS = [b"+%d", b"-%d", b"0x%x", b"%d,%d", b"%d, %d", b"0%d", b"%d ", b"\x0b%d", b"%d.0", b"1%d",
           b"%d\x00", b"99999999999999999999%d", b"", b"%da"]
CODINGS = [b"Chunked", b"CHUNKED", b"gzip, chunked", b"chunked, chunked", b"chunked, gzip", b"identity",
           b"xchunked", b"", b"chunked;q=1", b"\x0bchunked", b"\"chunked\""]
SIZES = [b"0x%x", b"+%x", b"%x ", b" %x", b"%x;", b"%x;a=b", b"%x;a=\"b\r\nc\"", b"0000%x", b"%xg", b"-%x",
         b"%x\x00", b"100000000%x", b"ffffffffffffffff%x", b"%x;\x00", b"%x;a\nb"]


class Stream:
    """Some requests as bytes; `oddities` is how many things in it are not as usual."""

    def __init__(self, source, number):
        self.random = source
        self.methods = {}
        self.oddities = 0
        # Of some streams all is right, or nobody would know whether anything gets through.
        self.share = source.choice([0, 0.03, 0.1])
        count = source.randrange(1, 4)
        self.bytes = b"".join(
            self.request(f"s{number}-{index}", index == count - 1) for index in range(count))

    def pick(self, usual, odd):
        if self.random.random() < self.share:
            self.oddities += 1
            return self.random.choice(odd)
        return self.random.choice(usual)

    def is_odd(self):
        if self.random.random() < self.share:
            self.oddities += 1
            return True
        return False

    def request(self, id, is_last):
        method = self.pick(*METHODS)
        self.methods[id] = method
        end = self.pick(*ENDS)
        target, version = self.pick(*TARGETS), self.pick(*VERSIONS)
        if version == b"HTTP/1.0" and target == b"/\x80":
            # The server lets old clients write them; h11 does not.
            target = b"/"
        line = b" ".join([method, target, version])
        fields = [*self.pick(*HOSTS), b"X-Request-Id: " + id.encode(),
                  b"Authorization: Bearer " + TOKEN.encode()]
        fields += [self.pick(*FIELDS) for _ in range(self.random.randrange(3))]
        if version == b"HTTP/1.0":
            # h11 does not know that these may stay, too.
            fields = [field for field in fields if field != b"Connection: keep-alive"]
        framing, body = self.body(method)
        fields += framing
        self.random.shuffle(fields)
        if is_last:
            fields.append(b"Connection: close")
        head = b"".join(field + self.pick(*ENDS) for field in fields)
        return line + end + head + self.pick(*ENDS) + body

    def body(self, method):
        """Fields that say how long the body is, and the body."""
        if method in METHODS[0] and method not in (b"POST", b"PUT") and not self.is_odd():
            return [], b""
        content = self.random.choice([b"", b"{}", b"GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"])
        size = len(content)
        if self.random.random() < 0.5:
            text = b"%d" % size
            if self.is_odd():
                form = self.random.choice(LENGTHS)
                text = form % ((size,) * form.count(b"%"))
            framing = [b"Content-Length: " + text]
            if self.is_odd():
                framing.append(b"Content-Length: %d" % (size + self.random.randrange(2)))
            if self.is_odd():
                framing.append(b"Transfer-Encoding: " + self.random.choice([b"chunked", *CODINGS]))
            return framing, content
        coding = self.random.choice(CODINGS) if self.is_odd() else b"chunked"
        name = b"Transfer-Encoding" + (b" " if self.is_odd() else b"")
        pieces = [content[:3], content[3:]] if len(content) > 3 else [content]
        body = b""
        for piece in [piece for piece in pieces if piece] + [b""]:
            form = self.random.choice(SIZES) if self.is_odd() else b"%x"
            body += form % len(piece) + self.pick(*ENDS) + piece
            if piece:
                body += self.pick(*ENDS)
        if self.is_odd():
            body += self.random.choice([b"Trailer: 1\r\n", b"bad trailer\r\n", b"A:\x00\r\n", b" x: 1\r\n"])
        return [name + b": " + coding], body + self.pick(*ENDS)


def ids_of_h11(stream):
    """The ids of the requests that h11 finds, and whether it found nothing wrong."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=16384)
    connection.receive_data(stream)
    connection.receive_data(b"")
    ids = []
    try:
        while True:
            event = connection.next_event()
            if isinstance(event, h11.Request):
                fields = dict(event.headers)
                ids.append(fields.get(b"x-request-id", b"").decode("latin-1"))
            elif isinstance(event, h11.EndOfMessage):
                connection.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
                connection.send(h11.EndOfMessage())
                if connection.our_state is not h11.DONE or connection.their_state is not h11.DONE:
                    return ids, True
                connection.start_next_cycle()
            elif isinstance(event, h11.Data):
                pass
            else:
                # Closed, needs more, or paused: what is missing does not come.
                return ids, isinstance(event, h11.ConnectionClosed)
    except h11.RemoteProtocolError:
        return ids, False


def answers(server, stream, patience_seconds=0):
    """What the server sends back until it closes. A proxy takes a half-closed connection for one that is
    gone: it is closed only after so long without an answer."""
    received = b""
    with socket.create_connection(("127.0.0.1", server.port), timeout=TIMEOUT_SECONDS) as client:
        start = 0
        try:
            while start < len(stream.bytes):
                size = stream.random.choice([1, 7, 100, len(stream.bytes)])
                client.sendall(stream.bytes[start:start + size])
                start += size
            if patience_seconds == 0:
                client.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # It has closed, and what it sent before is there to be read.
        try:
            if patience_seconds > 0:
                client.settimeout(patience_seconds)
                try:
                    while piece := client.recv(65536):
                        received += piece
                except TimeoutError:
                    client.settimeout(TIMEOUT_SECONDS)
                    client.shutdown(socket.SHUT_WR)
            while piece := client.recv(65536):
                received += piece
        except OSError as error:
            require(not isinstance(error, TimeoutError), f"no end of the answers to {stream.bytes[:2000]}")
    return received


def ids_of_ours(received, methods):
    """The ids under which the server answered, and the status of a refusal, if that came last."""
    ids = []
    while received:
        head, separator, received = received.partition(b"\r\n\r\n")
        require(separator and head.startswith(b"HTTP/1.1 "), f"no answer: {head[:200]}")
        lines = head.split(b"\r\n")
        status = int(lines[0].split()[1])
        fields = {name.lower(): value.strip() for name, _, value in
                  (line.partition(b":") for line in lines[1:])}
        if status == 100:
            continue
        id = fields.get(b"x-request-id", b"").decode()
        length = int(fields.get(b"content-length", b"0"))
        if status in REFUSALS and fields.get(b"connection") == b"close":
            # What was refused need not be a request, and may have no method.
            require(len(received) in (0, length), f"an answer after a refusal: {head[:200]}")
            return ids, status
        require(id in methods, f"an answer to nothing that was asked: {head[:200]}")
        ids.append(id)
        if methods[id] != b"HEAD" and status not in (204, 304):
            require(len(received) >= length, f"an answer's body is cut off: {head[:200]}")
            received = received[length:]
    return ids, None


def agrees_with_h11(server, count, seed):
    """As many streams; what was found."""
    if h11 is None:
        raise Skipped("there is no h11")
    source = random.Random(seed)
    same = refused = 0
    for number in range(count):
        stream = Stream(random.Random(source.getrandbits(64)), number)
        theirs, is_whole = ids_of_h11(stream.bytes)
        ours, refusal = ids_of_ours(answers(server, stream), stream.methods)
        said = f"seed {seed}, {stream.bytes[:2000]}: ours {ours} {refusal}, h11 {theirs} {is_whole}"
        require(ours == theirs[:len(ours)], f"requests that h11 does not see: {said}")
        if stream.oddities == 0:
            require(ours == theirs and refusal is None, f"a good request is refused: {said}")
        # What ends without an answer has to have ended with a refusal.
        require(refusal or len(ours) == len(theirs) or not is_whole, f"no answer: {said}")
        same += ours == theirs and is_whole
        refused += refusal is not None
    return f"{count} streams, {same} with the same requests to the end, {refused} with a refusal, seed {seed}"


class PlainNginx(Proxy):
    """nginx that hands on all that it takes for a request, as it comes, over few connections."""

    name = "nginx"

    def __init__(self, server, folder):
        (folder / "plain").mkdir()
        super().__init__(server, folder / "plain")

    def command(self):
        paths = "".join(
            f"{kind}_temp_path {self.folder}/{kind};\n"
            for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
        (self.folder / "nginx.conf").write_text(f"""daemon off;
worker_processes 1;
pid {self.folder}/pid;
error_log /dev/null;
events {{}}
http {{
access_log off;
{paths}ignore_invalid_headers off;
underscores_in_headers on;
upstream lookahead {{ server 127.0.0.1:{self.server.port}; keepalive 2; }}
server {{
listen 127.0.0.1:{self.port};
location / {{
proxy_pass http://lookahead;
proxy_http_version 1.1;
proxy_set_header Connection "";
proxy_request_buffering off;
}} }} }}
""")
        return ["nginx", "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]


def answers_find_back(proxy, count, seed):
    """As many streams through a proxy; what was found."""
    source = random.Random(seed)
    sent = answered = 0
    for number in range(count):
        stream = Stream(random.Random(source.getrandbits(64)), number)
        received = answers(proxy, stream, PATIENCE_SECONDS)
        ids = re.findall(rb"(?i)\r\nx-request-id: *(s[0-9]+-[0-9]+)\r\n", received)
        remaining = iter(stream.methods)
        require(all(id.decode() in remaining for id in ids),
                f"seed {seed}: answers {ids} to {stream.bytes[:2000]}")
        sent += len(stream.methods)
        answered += len(ids)
    return f"{count} streams, {sent} requests, {answered} answers of the server, seed {seed}"
