"""The hot page against nginx with the same bytes as a file."""

import contextlib

from peer_servers import Nginx
from runs import Contender, ratio
from servers import Lookahead
from tables import LOAD_COLUMNS

GZIP = "Accept-Encoding: gzip"


def measure(bench):
    with contextlib.ExitStack() as stack:
        start = stack.enter_context
        database = bench.data.big()
        ours = start(Lookahead(bench, database))
        nginx = start(Nginx(bench, ours.get(ours.page)))
        if nginx.get(nginx.page)[2] != ours.get(ours.page)[2]:
            raise RuntimeError("nginx does not answer the bytes that Lookahead does")
        contenders = [
            Contender("Lookahead", bench.load(ours)),
            Contender("nginx, static file", bench.load(nginx)),
        ]
        if not bench.is_quick:
            logging = start(Lookahead(bench, database, access_log=True))
            nginx_logging = start(Nginx(bench, ours.get(ours.page), access_log=True))
            contenders += [
                Contender("Lookahead, gzip", bench.load(ours, fields=[GZIP])),
                Contender("nginx, gzip_static", bench.load(nginx, fields=[GZIP])),
                Contender("Lookahead, access log", bench.load(logging)),
                Contender("nginx, access log", bench.load(nginx_logging)),
            ]
        lines = bench.contest(contenders)
    return {
        "title": "Hot page, against a static file",
        "to_reach": "CPU time a request at or below nginx's, rate at or above",
        "columns": LOAD_COLUMNS, "lines": list(lines.values()), "ratios": ratios(lines),
    }


def ratios(lines):
    pairs = [("Lookahead", "nginx, static file"), ("Lookahead, gzip", "nginx, gzip_static"),
             ("Lookahead, access log", "nginx, access log")]
    found = []
    for ours, theirs in pairs:
        if ours not in lines:
            continue
        kind = ours.partition(", ")[2]
        of = f" ({kind})" if kind else ""
        found += [
            ratio(f"CPU time a request against nginx{of}",
                  lines[ours]["cpu"] / lines[theirs]["cpu"], 1, at_least=False),
            ratio(f"rate against nginx{of}",
                  lines[ours]["rate"] / lines[theirs]["rate"], 1, at_least=True),
        ]
    return found
