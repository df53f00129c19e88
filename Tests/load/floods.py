"""More connections than there is room for: idle ones, too many, and descriptors that run out."""

import collections
import json
import multiprocessing
import pathlib
import resource
import selectors
import socket
import statistics
import subprocess
import sys
import time

import event_listeners
from checks import Skipped, require
from running import RunningServer, TOKEN, wait_until

FLOOD = pathlib.Path(__file__).parent / "flood.py"
REQUEST = b"GET /rp/?feed=featured&limit=1 HTTP/1.1\r\nHost: flood\r\n\r\n"
MAXIMUM_CONNECTIONS = 10_000
# How much a server may grow by while one of its listeners reads nothing.
SILENT_BYTES = 16 << 20
# And while it looks at very many files, and misses half of them.
MANY_FILES_BYTES = 100 << 20
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="30"><title>{title}</title></svg>\n'


def connect(port, timeout=10):
    return socket.create_connection(("127.0.0.1", port), timeout=timeout)


def need_descriptors(count):
    """Raises the limit of this process, which the server's inherits."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < count:
        raise Skipped(f"a process may open {hard} files here, and {count} are needed")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def idle_connections(program, folder, count, request):
    """How much memory a connection takes that was served once, or (without a request) never asked."""
    need_descriptors(count + 500)
    with RunningServer(program, folder) as server:
        for _ in range(50):
            server.get("/rp/?feed=featured&limit=30")
        resident, private = server.resident_bytes(), server.private_bytes()
        held = []
        for _ in range(count):
            connection = connect(server.port)
            if request:
                connection.sendall(request)
                require(connection.recv(65536)[9:12] == b"200", "not served")
            held.append(connection)
        require(wait_until(lambda: server.open_descriptors() > count, 10), "not all were accepted")
        resident = (server.resident_bytes() - resident) / count
        private = (server.private_bytes() - private) / count
        require(server.get("/healthz")[0] == 200, "not served beside them")
        for connection in held:
            connection.close()
        closed = wait_until(lambda: server.open_descriptors() < 100, 20)
        require(closed, f"{server.open_descriptors()} descriptors after all were closed")
        require(server.terminate() == 0, "the server did not end with status 0")
        return f"{count} connections, {resident:.0f} bytes resident, {private:.0f} private each"


def silent_listener(program, folder, count, writes):
    """Of this many listeners to a feed's events one reads nothing: the others hear of each write, and it costs
    no more memory than its socket has."""
    need_descriptors(2 * count + 500)
    with RunningServer(program, folder, "--event-listeners", str(count), "--log-level", "warning") as server:
        event_listeners.put(server.port, "first", writes + 1, TOKEN)
        silent = socket.socket()
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        silent.connect(("127.0.0.1", server.port))
        silent.sendall(b"GET /v1/feeds/live/events HTTP/1.1\r\nHost: silent\r\n\r\n")
        clients = event_listeners.Clients(server.port, count - 1)
        clients.ask()
        require(clients.read(b"retry: ", 60)[1] == 0, "not all were let in")
        resident, slowest = server.resident_bytes(), 0
        for number in range(writes):
            event_listeners.put(server.port, f"news-{number}", writes - number, TOKEN)
            _, missed, seconds = clients.read(b"event: newer", 30)
            require(missed == 0, f"write {number}: {missed} heard nothing for 30 s")
            slowest = max(slowest, seconds)
        grown = server.resident_bytes() - resident
        require(grown < SILENT_BYTES, f"{grown} bytes more after {writes} writes")
        require(server.get("/healthz")[0] == 200, "not served beside them")
        clients.close()
        silent.close()
        require(wait_until(lambda: server.open_descriptors() < 100, 20), "connections are left")
        require(server.terminate() == 0, "the server did not end with status 0")
        return (f"{count} listeners, {writes} writes: each heard by all others after {slowest * 1000:.0f} ms at the "
                f"most, {grown / 1e6:.1f} MB more")


def read_documents(port, count, seconds):
    """This many connections that each ask for a document of 4 MB again as soon as they have it."""
    request = b"GET /v1/feeds/heavy/feed.json?limit=100 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    selector, end = selectors.DefaultSelector(), time.monotonic() + seconds
    for _ in range(count):
        connection = connect(port)
        connection.sendall(request)
        # What is left of the answer; nothing is known of it yet.
        selector.register(connection, selectors.EVENT_READ, [None])
    while time.monotonic() < end:
        for key, _ in selector.select(0.1):
            data, left = key.fileobj.recv(1 << 20), key.data
            if left[0] is None:
                head, _, data = data.partition(b"\r\n\r\n")
                left[0] = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            left[0] -= len(data)
            if left[0] == 0:
                left[0] = None
                key.fileobj.sendall(request)


def heavy_documents(program, folder, count, seconds=10):
    """How long a plan of one item takes while this many connections read documents of 4 MB."""
    record = {"type": "text", "text": "word " * 8_000, "feeds": [{"name": "heavy"}]}
    source = pathlib.Path(folder) / "heavy.ndjson"
    source.write_text("".join(json.dumps({**record, "id": f"h{number}"}) + "\n" for number in range(100)))
    state = {"feed": "heavy", "items": ["h0"], "active": "h0", "hasNext": True}
    with RunningServer(program, folder) as server:
        server.command("seed", str(source))
        require(wait_until(lambda: server.get("/v1/feeds/heavy")[0] == 200, 5), "the feed is not there")

        def plan():
            start = time.monotonic()
            status, _, body = server.ask("POST", "/v1/plan", state)
            require(status == 200, f"a plan is {status}: {body[:200]}")
            return 1000 * (time.monotonic() - start)

        alone = [plan() for _ in range(100)]
        reader = multiprocessing.Process(target=read_documents, args=(server.port, count, seconds), daemon=True)
        reader.start()
        beside = []
        while reader.is_alive():
            beside.append(plan())
            time.sleep(0.01)
        reader.join()
        require(reader.exitcode == 0, "the documents were not served")
        require(server.terminate() == 0, "the server did not end with status 0")
        return (f"{count} connections, {len(beside)} plans: {statistics.median(beside):.1f} ms, {max(beside):.0f} ms at "
                f"the most; alone {statistics.median(alone):.1f} ms, {max(alone):.0f} ms")


def many_files(program, folder, count):
    """A media root of this many files, each shown by a post: what it takes to know them all and to look at them every five
    seconds; a file that changes and one that goes are found, and so are half of all."""
    media, source = pathlib.Path(folder) / "many", pathlib.Path(folder) / "many.ndjson"
    files = [f"{number // 1000:03d}/{number}.svg" for number in range(count)]
    with open(source, "w") as posts:
        for number, file in enumerate(files):
            (media / file).parent.mkdir(parents=True, exist_ok=True)
            (media / file).write_text(SVG.format(width=40, title=number))
            posts.write(json.dumps({
                "id": f"f{number}", "type": "image", "media": [{"kind": "image", "url": f"/media/{file}"}],
                "feeds": [{"name": "many", "rank": number}]}) + "\n")
    with RunningServer(program, folder, "--media-probe-interval-seconds", "5", media=media) as server:
        server.terminate()
        server.command("seed", str(source))
        start = time.monotonic()
        server.command("media", "add", "--media-root", str(media), str(media))
        seconds = time.monotonic() - start
        server.start()

        def shown(number):
            return json.loads(server.get(f"/v1/items/f{number}")[2])["media"][0]

        require(shown(count - 1)["width"] == 40, "a file is not known")
        resident = server.resident_bytes()
        (media / files[1]).write_text(SVG.format(width=77, title="new"))
        (media / files[2]).unlink()
        require(wait_until(lambda: shown(1)["width"] == 77, 120, 0.5), "a file that changed is not looked at")
        require(wait_until(lambda: "unavailable" in shown(2), 120, 0.5), "a file that went is not missed")
        for number in range(3, count // 2):
            (media / files[number]).unlink()
        gone = [3, count // 4, count // 2 - 1]
        found = wait_until(lambda: all("unavailable" in shown(number) for number in gone), 240, 1)
        require(found, "half of all files went, and are not missed")
        require("unavailable" not in shown(count // 2), "a file that is there is missed")
        grown = server.resident_bytes() - resident
        require(grown < MANY_FILES_BYTES, f"{grown} bytes more after some looks at {count} files")
        require(server.terminate() == 0, "the server did not end with status 0")
        return f"{count} files known in {seconds:.0f} s; {resident / 1e6:.0f} MB, {grown / 1e6:.0f} MB more in the end"


def too_many_connections(program, folder, count):
    """This many attempts against the limit; then all is as before."""
    need_descriptors(MAXIMUM_CONNECTIONS + 200)
    with RunningServer(program, folder) as server:
        resident = server.resident_bytes()
        start = time.monotonic()
        floods = [
            subprocess.Popen(
                [sys.executable, str(FLOOD), str(server.port), str(count // 2)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        try:
            outcomes = collections.Counter()
            for flood in floods:
                outcomes.update(json.loads(flood.stdout.readline()))
            seconds = time.monotonic() - start
            peak = server.resident_bytes()
            status = server_refusal(server.port)
        finally:
            for flood in floods:
                flood.communicate("\n", timeout=30)
        served = wait_until(lambda: is_served(server), 20, 0.01)
        require(served, "no service after the flood")
        require(
            wait_until(lambda: server.open_descriptors() < 100, 20),
            f"{server.open_descriptors()} descriptors after the flood")
        clean = {"200", "503", "closed without an answer", "ConnectionResetError", "BrokenPipeError"}
        require(set(outcomes) <= clean | {"no answer in time"}, f"{dict(outcomes)}")
        require(outcomes["no answer in time"] == 0, f"{dict(outcomes)}")
        require(outcomes["200"] == MAXIMUM_CONNECTIONS, f"{dict(outcomes)}")
        require(server.terminate() == 0, "the server did not end with status 0")
        return (f"{dict(outcomes)} in {seconds:.1f} s; one more while full: {status}; "
                f"{(peak - resident) / 1e6:.1f} MB more; then full service")


def server_refusal(port):
    """What a client sees that comes when the server is full."""
    with connect(port) as connection:
        try:
            connection.sendall(REQUEST)
            head = connection.recv(4096).split(b"\r\n")[0].decode()
            return head or "closed"
        except OSError as error:
            return type(error).__name__


def is_served(server):
    try:
        return server.get("/rp/?feed=featured&limit=1", timeout=2)[0] == 200
    except OSError:
        return False


def exhausted_descriptors(program, folder, limit, count):
    """Accepting pauses and goes on, and does not spin meanwhile."""
    with RunningServer(program, folder, descriptors=limit) as server:
        first = connect(server.port)
        held = [connect(server.port) for _ in range(count)]
        full = wait_until(lambda: server.open_descriptors() >= limit - 1, 10)
        require(full, f"{server.open_descriptors()} descriptors of {limit}")
        start, cpu = time.monotonic(), server.cpu_seconds()
        time.sleep(5)
        share = (server.cpu_seconds() - cpu) / (time.monotonic() - start)
        first.sendall(REQUEST)
        require(first.recv(65536)[9:12] == b"200", "an open connection is no longer served")
        for connection in held:
            connection.close()
        require(wait_until(lambda: is_served(server), 10, 0.01), "no service afterwards")
        first.close()
        metrics = server.metrics()
        pauses = metrics['lookahead_http_connection_events_total{event="acceptPaused"}']
        lines = len(server.log.read_text().splitlines())
        require(pauses > 0, "accepting never paused")
        require(share < 0.10, f"{share:.1%} of a core while exhausted")
        require(server.terminate() == 0, "the server did not end with status 0")
        return (f"{count} connections, {limit} descriptors: {share:.1%} of a core, {pauses:.0f} pauses, "
                f"{lines} log lines; open ones served, then all")
