"""Cost against connections, and against event loops."""

import contextlib

from peer_servers import Nginx
from runs import Contender, ratio
from servers import Lookahead
from tables import LOAD_COLUMNS

COUNTS = [1, 64, 1000, 5000]
BOTH_CORES = "0,1"


def measure(bench):
    with contextlib.ExitStack() as stack:
        ours = stack.enter_context(Lookahead(bench, bench.data.big()))
        nginx = stack.enter_context(Nginx(bench, ours.get(ours.page)))
        lines = bench.contest([
            Contender(f"{server.name}, {count}", bench.load(server, connections=count))
            for count in COUNTS for server in (ours, nginx)])
    for name, line in lines.items():
        line["server"], line["connections"] = name.rsplit(", ", 1)
        line["connections"] = int(line["connections"])
    return {
        "title": "Cost against connections: the hot page",
        "to_reach": None, "columns": LOAD_COLUMNS, "lines": list(lines.values()), "ratios": [],
    }


def measure_loops(bench):
    """One and two event loops, server and load on both cores."""
    with contextlib.ExitStack() as stack:
        servers = {
            count: stack.enter_context(Lookahead(
                bench, bench.data.big(), "--event-loops", str(count), cores=BOTH_CORES))
            for count in (1, 2)}
        lines = bench.contest([
            Contender(f"{count} event loop{'s' if count > 1 else ''}",
                      bench.load(server, cores=BOTH_CORES, threads=2))
            for count, server in servers.items()])
    for line in lines.values():
        line["per_core"] = 1e6 / line["cpu"]
    one, two = lines.values()
    return {
        "title": "Event loops: server and load share both cores",
        "to_reach": None,
        "columns": ["name", "rate", "p50", "p99", "cpu", "load_cpu", "server_core", "load_core",
                    "per_core"],
        "lines": list(lines.values()),
        "ratios": [
            ratio("CPU time a request, two loops against one", two["cpu"] / one["cpu"], 1.2,
                  at_least=False)],
    }
