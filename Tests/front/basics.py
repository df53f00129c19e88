"""What Varnish keeps, what it lets through, and what it does when servers are gone."""

import asyncio
import time

from checks import require
from client import Client
from fleet import STRANGER, wait_until

PAGE = "/rp/?feed=featured&limit=30"


async def kept(fleet, _seconds):
    """A page is kept in each coding, whole and by HEAD, with the fields of its request."""
    # A server purges everything at its start, and once more a moment later: until then nothing is sure to stay.
    require(wait_until(lambda: fleet.purged() >= 2 * len(fleet.servers), 30), "the servers do not purge at their start")
    server, client = Client(fleet.servers[0].port), Client(fleet.varnish.port)
    for coding, takes in [("br", "gzip, deflate, br"), ("gzip", "gzip"), (None, "identity"), ("gzip", "br;q=0, gzip")]:
        own = await server.get(PAGE, Accept_Encoding=takes)
        for _ in range(2):
            answer = await client.get(PAGE, Accept_Encoding=takes, X_Request_Id="of-the-check")
        require(answer.fields["x-cache"] == "HIT", f"{takes}: {answer.fields}")
        require(answer.body == own.body and answer.fields["etag"] == own.fields["etag"], f"{takes} is another page")
        require(answer.fields.get("content-encoding") == coding, f"{takes}: {answer.fields}")
        require(answer.fields["x-request-id"] == "of-the-check", str(answer.fields))
        inner = {"surrogate-key", "xkey", "age", "via", "x-varnish"} & set(answer.fields)
        require(not inner, f"{inner} are for nobody outside")
        again = await client.get(PAGE, Accept_Encoding=takes, If_None_Match=own.fields["etag"])
        require(again.status == 304, f"{takes}: {again.status} for who has it")
    head = await client.ask("HEAD", PAGE, Accept_Encoding="gzip")
    require(head.fields["x-cache"] == "HIT" and not head.body, str(head.fields))
    # Parameters in another order are the same page, what no client hints at makes no other.
    other = await client.get("/rp/?limit=30&feed=featured", Accept_Encoding="gzip", ECT="5g", Cookie="a=b")
    require(other.fields["x-cache"] == "HIT", str(other.fields))
    for name, path in [("items", "/v1/items/first-ferry"), ("feeds", "/v1/feeds"), ("networks", "/v1/networks")]:
        await client.get(path)
        require((await client.get(path)).fields["x-cache"] == "HIT", f"{name} are not kept")


async def let_through(fleet, _seconds):
    """Writes, writers' reads, files by ranges and events; what is for the servers' network alone is not."""
    client, stranger = Client(fleet.varnish.port), Client(fleet.varnish.port, STRANGER)
    for path in ["/metrics", "/readyz", "/healthz"]:
        require((await stranger.get(path)).status == 404, f"{path} is for everybody")
        require((await client.get(path)).status == 200, f"{path} is for nobody")
    refused = await stranger.ask("PURGE", "/", Surrogate_Key="all")
    require(refused.status == 405, f"a stranger's PURGE is {refused.status}")
    require((await client.ask("PURGE", "/")).status == 400, "a PURGE without keys does something")
    missing = await client.get("/rp/?feed=none")
    require(missing.status == 404 and missing.fields["content-type"] == "application/problem+json", str(missing.fields))
    plan = await client.ask("POST", "/v1/plan", {"items": []})
    require(plan.fields["x-cache"] == "PASS", str(plan.fields))
    read = await client.ask("GET", PAGE, Authorization="Bearer x")
    require(read.fields["x-cache"] == "PASS", str(read.fields))
    part = await client.get("/media/first-ferry/0.mp4", Range="bytes=4-7")
    require((part.status, part.body) == (206, b"ftyp"), f"{part.status} {part.body[:20]}")
    await events(fleet)


async def events(fleet):
    reader, writer = await asyncio.open_connection("127.0.0.1", fleet.varnish.port)
    writer.write(b"GET /v1/feeds/events-of-the-check/events HTTP/1.1\r\nHost: front\r\n\r\n")
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
    require(b"404" in head.split(b"\r\n")[0], str(head))
    writer.close()
    reader, writer = await asyncio.open_connection("127.0.0.1", fleet.varnish.port)
    writer.write(b"GET /v1/feeds/featured/events HTTP/1.1\r\nHost: front\r\n\r\n")
    await asyncio.wait_for(reader.readuntil(b"retry: 3000\n"), 5)
    made = await Client(fleet.varnish.port).write(
        "PUT", "/v1/items/news", {"type": "text", "feeds": [{"name": "featured", "rank": 0}]})
    require(made.status in (201, 204), f"{made.status} {made.body}")
    start = time.monotonic()
    await asyncio.wait_for(reader.readuntil(b"event: newer\n"), 5)
    writer.close()
    require(time.monotonic() - start < 1, "an event was held up")


async def purge_to_fresh(fleet, seconds):
    """From a write's answer to the first page that has it, where nothing else is written."""
    client, milliseconds, rounds = Client(fleet.varnish.port), [], max(10, 2 * seconds)
    path = "/rp/?feed=race0&limit=3"
    for _ in range(rounds):
        await client.get(path)
        answer = await client.write("POST", "/v1/items/race0-0/counters", {"likes": 1})
        start, likes = time.monotonic(), b'"likes":%d' % answer.json["counters"]["likes"]
        while likes not in (await client.get(path)).body:
            require(time.monotonic() - start < 5, "the page does not become fresh")
        milliseconds.append((time.monotonic() - start) * 1000)
        # Longer than the interval: the next write is one after a while.
        await asyncio.sleep(0.3)
    milliseconds.sort()
    return (f"{rounds} writes, p50 {milliseconds[rounds // 2]:.1f} ms, p99 "
            f"{milliseconds[rounds * 99 // 100]:.1f} ms, max {milliseconds[-1]:.1f} ms")


async def one_server_dies(fleet, seconds):
    """Every read is answered while one of the servers is gone, and comes back."""
    client, victim = Client(fleet.varnish.port), fleet.servers[-1]
    paths = [f"/rp/?feed=race{number}&limit=3&offset={offset}" for number in range(8) for offset in range(3)]
    reads = 0
    victim.kill()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for path in paths:
            reads += 1
            answer = await client.get(path)
            require(answer.status == 200, f"{path}: {answer.status} {answer.body[:200]}")
        await client.ask("PURGE", "/", Surrogate_Key="all")
    victim.start()
    return f"{reads} reads, all answered"


async def all_servers_die(fleet, seconds):
    """Pages are shown as they were; who asks for another is told to come again; then all is as before."""
    client = Client(fleet.varnish.port)
    paths = [PAGE, "/rp/?feed=race1&limit=3", "/v1/feeds"]
    before = {path: (await client.get(path)).body for path in paths}
    for server in fleet.servers:
        server.kill()
    await client.ask("PURGE", "/", Surrogate_Key="all")
    reads = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for path in paths:
            reads += 1
            answer = await client.get(path)
            require(answer.status == 200 and answer.body == before[path], f"{path}: {answer.status} {answer.fields}")
            require(answer.fields["x-cache"] == "STALE", str(answer.fields))
        unknown = await client.get("/rp/?feed=newest&limit=7")
        require(unknown.status == 503 and "retry-after" in unknown.fields, f"{unknown.status} {unknown.fields}")
        write = await client.write("POST", "/v1/items/race0-0/counters", {"likes": 1})
        require(write.status == 503, f"a write is {write.status}")
    for server in fleet.servers:
        server.start()
    start = time.monotonic()
    while (await client.get(PAGE)).fields["x-cache"] == "STALE":
        require(time.monotonic() - start < 10, "it goes on with what it had")
        await asyncio.sleep(0.05)
    fresh = time.monotonic() - start
    require(wait_until(lambda: fleet.purged() >= len(fleet.servers), 10), "the servers do not purge at their start")
    return f"{reads} reads while nobody served, all answered; fresh {fresh:.1f} s after the start"
