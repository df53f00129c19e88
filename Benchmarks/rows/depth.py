"""A page far down against the first one, one request at a time."""

from data import random_offsets
from rows.pages import LIMIT, saved
from runs import Contender, ratio
from servers import Lookahead
from tables import LOAD_COLUMNS

DEPTH = 250_000
NEARBY = 20_000


def measure(bench):
    top = f"/rp/?feed={bench.data.big_feed}&limit={LIMIT}"
    with Lookahead(bench, bench.data.big(), page=top) as server:
        ways = {
            "offset 0, the same page": [f"{top}&offset=0"],
            "offset 250 000, the same page": [f"{top}&offset={DEPTH}"],
            "offsets from 0, each different":
                [f"{top}&offset={k}" for k in random_offsets(NEARBY, NEARBY)],
            "offsets from 250 000, each different":
                [f"{top}&offset={k}" for k in random_offsets(NEARBY, DEPTH + NEARBY, DEPTH)],
        }
        lines = bench.contest([
            Contender(name, bench.load(
                server, connections=1, paths=saved(bench, number, paths)))
            for number, (name, paths) in enumerate(ways.items())])
    near, far, near_each, far_each = lines.values()
    return {
        "title": "Depth: offset 250 000 against offset 0, one connection",
        "to_reach": "p50 within 1.2 times",
        "columns": LOAD_COLUMNS, "lines": list(lines.values()),
        "ratios": [
            ratio("p50 at offset 250 000, the same page", far["p50"] / near["p50"], 1.2, False),
            ratio("p50 at offset 250 000, each different",
                  far_each["p50"] / near_each["p50"], 1.2, False),
        ],
    }
