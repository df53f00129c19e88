"""The same page from SQLite each time, against other services on the same database."""

import contextlib

import install
from peer_servers import Datasette, Go, Hummingbird
from runs import Contender, ratio
from servers import WITHOUT_CACHES, Lookahead, same_items
from tables import LOAD_COLUMNS


def measure(bench):
    install.need_go(bench.built)
    kinds = {Go: 3}
    if bench.with_hummingbird:
        install.need_hummingbird(bench.built)
        kinds[Hummingbird] = 5
    if not bench.is_quick:
        install.need_datasette(bench.built)
        kinds[Datasette] = None
    with contextlib.ExitStack() as stack:
        database = bench.data.big()
        servers = [stack.enter_context(Lookahead(bench, database, *WITHOUT_CACHES))]
        servers += [stack.enter_context(kind(bench, database)) for kind in kinds]
        same_items(servers)
        lines = bench.contest(
            [Contender(server.name, bench.load(server)) for server in servers])
    ours = lines["Lookahead"]
    ratios = []
    for kind, goal in kinds.items():
        theirs = lines[kind.name]
        if goal:
            ratios.append(ratio(f"rate against {kind.name}", ours["rate"] / theirs["rate"], goal,
                                at_least=True))
    return {
        "title": "The same page from SQLite each time, without caches",
        "to_reach": "at least 3 times Go's rate, 5 times Hummingbird's",
        "columns": LOAD_COLUMNS, "lines": list(lines.values()), "ratios": ratios,
    }
