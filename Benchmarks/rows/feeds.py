"""Cost against the number of feeds: one request at a time, on a great many and on a few."""

import http.client
import json
import statistics
import time

from load import LoadError
from rows.start import until
from runs import ratio
from servers import TOKEN, Lookahead

MANY, FEW, POSTS = 100_000, 10, 10
WITHIN = 1.5
READY_SECONDS, LIMIT_MEGABYTES = 1, 300
# Of each kind of request in a round; the rounds of both servers take turns.
REQUESTS, ROUNDS, QUICK_ROUNDS = 40, 9, 3
STARTS = 3
KINDS = ["increment", "item", "feed", "page", "list"]


def measure(bench):
    databases = {count: bench.data.feeds(count, POSTS) for count in [MANY, FEW]}
    lines = {}
    for count, database in databases.items():
        copy = bench.data.copy(database, bench.folder / f"feeds-{count}.sqlite")
        ready = statistics.median(
            bench.kept(lambda copy=copy: until(bench, copy, "/readyz")) for _ in range(STARTS))
        lines[count] = {"name": f"{count} feeds of {POSTS} posts", "ready_ms": ready}
    times = {count: {kind: [] for kind in KINDS} for count in databases}
    with Lookahead(bench, bench.folder / f"feeds-{MANY}.sqlite", page="/readyz") as many, \
            Lookahead(bench, bench.folder / f"feeds-{FEW}.sqlite", page="/readyz") as few:
        for number in range(QUICK_ROUNDS if bench.is_quick else ROUNDS):
            for count, server in [(MANY, many), (FEW, few)]:
                found = bench.kept(lambda: requests(server, count, number))
                for kind in KINDS:
                    times[count][kind] += found[kind]
        for count, server in [(MANY, many), (FEW, few)]:
            lines[count]["rss"], lines[count]["pss"] = server.memory()
    for count in databases:
        lines[count] |= {kind: statistics.median(times[count][kind]) for kind in KINDS}
    most, least = lines[MANY], lines[FEW]
    said = {"increment": "an increment", "item": "a PUT of an item", "feed": "a PUT of a feed",
            "page": "a page that nobody asked for before"}
    return {
        "title": f"Cost against the number of feeds: {MANY} against {FEW}, one connection",
        "to_reach": f"p50 within {WITHIN} times, ready in under {READY_SECONDS} s, "
                    f"under {LIMIT_MEGABYTES} MB",
        "columns": ["name", *KINDS, "ready_ms", "rss", "pss"], "lines": list(lines.values()),
        "ratios": [
            *(ratio(f"p50 of {what}", most[kind] / least[kind], WITHIN, at_least=False)
              for kind, what in said.items()),
            ratio(f"seconds to /readyz with {MANY} feeds", most["ready_ms"] / 1000, READY_SECONDS,
                  at_least=False),
            ratio(f"resident MB with {MANY} feeds", most["rss"], LIMIT_MEGABYTES, at_least=False)],
    }


def requests(server, feeds, number):
    """The microseconds of each request of a round, by its kind."""
    found = {kind: [] for kind in KINDS}
    # In strides through all feeds: each round has other ones.
    start = number * REQUESTS
    with Asker(server.port) as asker:
        asker.ask("GET", "/healthz")
        for index in range(start, start + REQUESTS):
            feed = index * 7919 % feeds
            item = f"feed-{feed}-{index % POSTS}"
            record = {"type": "image", "title": f"Put {index}",
                      "feeds": [{"name": name(feed), "rank": index}]}
            title = {"feed": {"name": name(feed), "title": f"Title {index}"}}
            # With another budget each time, so that it is no page that was kept.
            found["page"].append(asker.ask(
                "GET", f"/v1/feeds/{name(feed)}/items?limit=10&budget={index + 1}"))
            found["list"].append(asker.ask("GET", "/v1/feeds?limit=30"))
            found["increment"].append(asker.ask(
                "POST", f"/v1/items/{item}/counters", {"likes": 1}))
            found["item"].append(asker.ask("PUT", f"/v1/items/{item}", record))
            found["feed"].append(asker.ask("PUT", f"/v1/feeds/{name(feed)}", title))
    return found


def name(feed):
    return f"topic-{feed:06}"


class Asker:
    """One connection that asks for one thing after the other, with the token."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def ask(self, method, path, document=None):
        """The microseconds from asking to the whole answer."""
        fields = {"Authorization": f"Bearer {TOKEN}"} if method != "GET" else {}
        body = None
        if document is not None:
            fields["Content-Type"] = "application/json"
            body = json.dumps(document)
        start = time.perf_counter()
        self.connection.request(method, path, body, fields)
        answer = self.connection.getresponse()
        answer.read()
        taken = (time.perf_counter() - start) * 1e6
        if answer.status // 100 != 2:
            raise LoadError(f"{method} {path} is answered with {answer.status}")
        return taken
