"""slowhttptest in its four modes, and pipelining clients that read nothing."""

import shutil
import socket
import subprocess
import time

from checks import Skipped, require
from probe import Probe
from running import TOKEN

CONNECTIONS = 1000
WRITER = f"application/json\r\nAuthorization: Bearer {TOKEN}"
MODES = {
    "slow headers": ["-H", "-u", "/rp/?feed=featured", "-i", "5"],
    # With the token: without one the body is not read at all.
    "slow bodies": ["-B", "-t", "PUT", "-u", "/v1/items/slow", "-f", WRITER, "-i", "5", "-s", "8192"],
    "ranges": ["-R", "-t", "GET", "-u", "/media/short.mp4", "-a", "5", "-b", "2000"],
    "slow reads": ["-X", "-u", "/media/short.mp4", "-k", "3", "-n", "5", "-w", "10", "-y", "20",
                   "-z", "32"],
}


def slowhttptest(server, mode, seconds):
    """A thousand slow connections while the probe asks: all its requests are served."""
    if not shutil.which("slowhttptest"):
        raise Skipped("there is no slowhttptest")
    arguments = [server.url(a) if a.startswith("/") else a for a in MODES[mode]]
    before = too_slow(server)
    with Probe(server.port) as probe:
        tester = subprocess.Popen(
            ["slowhttptest", *arguments, "-c", str(CONNECTIONS), "-r", "500", "-l", str(seconds),
             "-p", "5", "-v", "1"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        most, resident = 0, 0
        end = time.monotonic() + seconds + 20
        while tester.poll() is None and time.monotonic() < end:
            most = max(most, server.open_descriptors())
            resident = max(resident, server.resident_bytes())
            time.sleep(0.5)
        if tester.poll() is None:
            tester.kill()
        said = tester.communicate()[0]
    refused, cut = (now - then for now, then in zip(too_slow(server), before))
    require(not probe.failures, f"{probe}: {probe.failures[:3]}; {said[-300:]}")
    return (f"{probe}; up to {most} descriptors, {resident / 1e6:.0f} MB, "
            f"{refused:.0f} × 408, {cut:.0f} cut off")


def too_slow(server):
    """How many requests the server has answered with 408, and how many readers it has cut off."""
    metrics = server.metrics()
    refused = sum(count for name, count in metrics.items()
                  if name.startswith("lookahead_http_requests_total") and 'status="408"' in name)
    return refused, metrics['lookahead_http_connection_events_total{event="cutOff"}']


def unread_pipelines(server, path, connections, bytes_allowed, descriptors_allowed):
    """Clients that send 64 requests at once and read nothing: what they hold is bounded."""
    request = f"GET {path} HTTP/1.1\r\nHost: slow\r\n\r\n".encode() * 64
    resident, descriptors = server.resident_bytes(), server.open_descriptors()
    with Probe(server.port) as probe:
        held = []
        for _ in range(connections):
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            connection.connect(("127.0.0.1", server.port))
            connection.sendall(request)
            held.append(connection)
        time.sleep(10)
        bytes_each = (server.resident_bytes() - resident) / connections
        descriptors_each = (server.open_descriptors() - descriptors) / connections
        for connection in held:
            connection.close()
    text = (f"{connections} connections, {bytes_each / 1024:.0f} KiB and {descriptors_each:.1f} "
            f"descriptors each; {probe}")
    require(not probe.failures, text)
    require(bytes_each <= bytes_allowed, f"{text}; more than {bytes_allowed // 1024} KiB")
    require(descriptors_each <= descriptors_allowed, f"{text}; more than {descriptors_allowed}")
    return text
