"""Pages all over a large feed, none of which was asked for before, by cursor and by offset, against one that
everybody asks for.

The load goes through many pages in any order and asks a server that keeps none: each is made as one that
nobody asked for before. Keeping those that were asked for does not count here.
"""

import http.client
import random
import re
from urllib.parse import quote

from data import FIXTURES_FEED, MEDIA, random_offsets
from load import wrk
from runs import Contender, ratio
from servers import Lookahead, WITHOUT_KEPT_PAGES
from tables import LOAD_COLUMNS

LIMIT = 30
OFFSETS = 50_000
QUICK_STEPS = 1000
QUICK_OFFSETS = 5000
WARM_SECONDS = 2
# What a page that nobody asked for before is to reach of the hot page's rate.
SHARE = 0.45


def measure(bench):
    return all_over(bench, bench.data.big_feed, bench.data.big())


def measure_with_truth(bench):
    """The same of items of whose media files all is known, variants among it."""
    # What is known of the files is known before: nobody looks into them meanwhile.
    served = ["--media-root", MEDIA, "--media-probe-cpu-percent", "0"]
    row = all_over(bench, FIXTURES_FEED, bench.data.with_truth(), *served)
    return {**row, "title": row["title"] + ", all known of their media"}


def all_over(bench, feed, database, *options):
    top = f"/rp/?feed={feed}&limit={LIMIT}"
    count = QUICK_OFFSETS if bench.is_quick else OFFSETS
    with (Lookahead(bench, database, *options, page=top) as server,
          Lookahead(bench, database, *options, *WITHOUT_KEPT_PAGES, page=top) as making):
        total = feed_total(server, feed)
        by_cursor = cursors(server, top, QUICK_STEPS if bench.is_quick else total)
        by_offset = [f"{top}&offset={k}" for k in random_offsets(count, total - LIMIT)]
        # The same way of asking for each, so that the load's own work is the same.
        ways = [
            ("the first page, again and again", server, [top]),
            (f"by cursor, {len(by_cursor)} pages", making, by_cursor),
            (f"by offset, {len(by_offset)} pages", making, by_offset),
        ]
        files = [saved(bench, number, paths) for number, (_, _, paths) in enumerate(ways)]
        for (_, asked, _), file in zip(ways, files):
            wrk(asked, top, WARM_SECONDS, paths=file)
        lines = bench.contest([
            Contender(name, bench.load(asked, paths=file))
            for (name, asked, _), file in zip(ways, files)])
    hot, *others = lines.values()
    return {
        "title": f"Pages all over a feed of {total} posts, none asked for before",
        "to_reach": f"at least {SHARE} of the hot page's rate",
        "columns": LOAD_COLUMNS, "lines": list(lines.values()),
        "ratios": [ratio(f"rate {line['name']}, against the hot page",
                         line["rate"] / hot["rate"], SHARE, at_least=True) for line in others],
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
