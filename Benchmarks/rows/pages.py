"""Pages all over a large feed, each different, by cursor and by offset."""

import http.client
import random
import re
from urllib.parse import quote

from data import random_offsets
from runs import Contender, ratio
from servers import Lookahead
from tables import LOAD_COLUMNS

LIMIT = 30
OFFSETS = 50_000
QUICK_STEPS = 1000


def measure(bench):
    feed = bench.data.big_feed
    top = f"/rp/?feed={feed}&limit={LIMIT}"
    with Lookahead(bench, bench.data.big(), page=top) as server:
        total = feed_total(server, feed)
        by_cursor = cursors(server, top, QUICK_STEPS if bench.is_quick else total)
        by_offset = [f"{top}&offset={k}" for k in random_offsets(OFFSETS, total - LIMIT)]
        # The same way of asking for each, so that the load's own work is the same.
        ways = {
            "the first page": [top],
            f"by cursor, {len(by_cursor)} pages": by_cursor,
            f"by offset, {len(by_offset)} pages": by_offset,
        }
        lines = bench.contest([
            Contender(name, bench.load(server, paths=saved(bench, number, paths)))
            for number, (name, paths) in enumerate(ways.items())])
    hot, *others = lines.values()
    return {
        "title": f"Pages all over a feed of {total} posts",
        "to_reach": "at least half the hot page's rate",
        "columns": LOAD_COLUMNS, "lines": list(lines.values()),
        "ratios": [ratio(f"rate {line['name']}, against the hot page",
                         line["rate"] / hot["rate"], 0.5, at_least=True) for line in others],
    }


def feed_total(server, feed):
    body = server.get(f"/v1/feeds/{quote(feed, safe='')}")[2].decode()
    return int(re.search(r'"total":(\d+)', body)[1])


def cursors(server, top, most):
    """The paths of the pages behind the first one, as a walk finds them, shuffled."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    paths, path = [], top
    while path and len(paths) < most:
        connection.request("GET", path)
        body = connection.getresponse().read().decode()
        after = re.search(r'"next":"([^"]+)"', body[body.rindex('"paging":'):])
        path = f"{top}&after={after[1]}" if after else None
        if path:
            paths.append(path)
    connection.close()
    random.Random(1).shuffle(paths)
    return paths


def saved(bench, number, paths):
    """The file that the load reads its paths from."""
    file = bench.folder / f"paths-{number}"
    file.write_text("\n".join(paths) + "\n")
    return file
