"""PostgreSQL as the store beside SQLite, and beside a Go service on the same PostgreSQL: seeding, pages, depth,
increments. PostgreSQL has the server's core together with whoever asks it, and its CPU time counts as that one's."""

import contextlib
import statistics
from urllib.parse import quote

import install
from data import random_offsets
from postgres_server import Cluster, GoOnPostgres, LookaheadOnPostgres, on_server_core
from rows.depth import DEPTH, NEARBY
from rows.pages import LIMIT, feed_total, saved
from rows.seeding import seed, watched
from runs import Contender, ratio
from servers import TOKEN, WITHOUT_CACHES, WITHOUT_KEPT_PAGES, Lookahead, same_items

SEEDINGS = 3
OFFSETS = 50_000
INCREMENTED = 1000
FIELDS = [f"Authorization: Bearer {TOKEN}", "Content-Type: application/json"]
ONE = '{"likes":1}'
SQLITE, POSTGRES, GO = "SQLite", "PostgreSQL", "Go with pgx"
# What PostgreSQL is to reach of SQLite's rate where it is not asked, and of Go's where it is.
KEPT, BESIDE_GO = 0.9, 1


def measure(bench):
    install.need_postgres()
    install.need_go(bench.built, "postgres")
    seeded = seedings(bench)
    with on_server_core(bench) as cluster:
        lines = {**hot(bench, cluster), **made(bench, cluster), **read(bench, cluster),
                 **deep(bench, cluster), **increments(bench, cluster)}
    for line in [*seeded.values(), *lines.values()]:
        for column in ["posts", "seconds", "seed_rate", "rate", "p50", "p99", "cpu"]:
            line.setdefault(column, None)

    def share(what, left, right, goal, column="rate", at_least=True):
        table = seeded if column == "seed_rate" else lines
        return ratio(what, table[left][column] / table[right][column], goal, at_least)

    def name(what, who):
        return f"{what}, {who}"

    return {
        "title": "PostgreSQL as the store, beside SQLite and beside Go with pgx",
        "to_reach": "SQLite's rate where nothing is read, Go's rate where all is",
        "columns": ["name", "posts", "seconds", "seed_rate", "rate", "cpu", "p50", "p99"],
        "lines": [*seeded.values(), *lines.values()],
        "ratios": [
            share("rate of seeding against SQLite", name(SEED, POSTGRES), name(SEED, SQLITE), None, "seed_rate"),
            share("rate of a page at hand against SQLite", name(HOT, POSTGRES), name(HOT, SQLITE), KEPT),
            share("rate of pages never asked for before against SQLite", name(MADE, POSTGRES), name(MADE, SQLITE),
                  KEPT),
            share("rate of a page read each time against SQLite", name(READ, POSTGRES), name(READ, SQLITE), None),
            share("rate of a page read each time against Go", name(READ, POSTGRES), name(READ, GO), BESIDE_GO),
            share("p50 at offset 250 000, each different", name(DEEP, POSTGRES), name(TOP, POSTGRES), 1.2, "p50",
                  at_least=False),
            share("increments a second against SQLite", name(COUNT, POSTGRES), name(COUNT, SQLITE), None),
            share("increments a second against Go", name(COUNT, POSTGRES), name(COUNT, GO), BESIDE_GO)],
    }


SEED, HOT, MADE, READ = "seed", "page at hand", "pages never asked for before", "page read each time"
TOP, DEEP, COUNT = "offsets from 0, one connection", "offsets from 250 000, one connection", "increments"


def named(what, lines):
    """The lines of a contest, under what was measured and who did it."""
    return {f"{what}, {who}": line | {"name": f"{what}, {who}"} for who, line in lines.items()}


def seedings(bench):
    """Seeds in turn into both, on both cores; leaves the database `feed` behind."""
    arguments, _ = bench.data.source()
    found = {SQLITE: [], POSTGRES: []}
    with Cluster(bench, "0,1") as cluster:
        for _ in range(1 if bench.is_quick else min(SEEDINGS, bench.runs)):
            found[SQLITE].append(bench.kept(
                lambda: seed(bench, bench.folder / "beside-postgres.sqlite", arguments), judges_speed=False))
            found[POSTGRES].append(bench.kept(
                lambda: watched(bench, cluster.fresh("feed"), arguments), judges_speed=False))
        for others in bench.data.others():
            bench.data.run("seed", "--database", cluster.address("feed"), others)
        # As autovacuum leaves it, so that this does not begin in the middle of a run.
        cluster.say("VACUUM ANALYZE", "feed")
        cluster.say("CHECKPOINT")
    return named(SEED, {
        who: {name: statistics.median(run[name] for run in runs) for name in ["posts", "seconds", "seed_rate"]}
        for who, runs in found.items()})


@contextlib.contextmanager
def both(bench, cluster, *options, page=None):
    """Lookahead on either database."""
    more = {"page": page} if page else {}
    with Lookahead(bench, bench.data.big(), *options, **more) as sqlite, \
            LookaheadOnPostgres(bench, cluster, "feed", *options, **more) as postgres:
        same_items([sqlite, postgres])
        yield {SQLITE: sqlite, POSTGRES: postgres}


def contest(bench, what, servers, **load):
    return named(what, bench.contest(
        [Contender(who, bench.load(server, **load)) for who, server in servers.items()]))


def hot(bench, cluster):
    with both(bench, cluster) as servers:
        return contest(bench, HOT, servers)


def made(bench, cluster):
    top = f"/rp/?feed={bench.data.big_feed}&limit={LIMIT}"
    with both(bench, cluster, *WITHOUT_KEPT_PAGES, page=top) as servers:
        total = feed_total(servers[SQLITE], bench.data.big_feed)
        paths = saved(bench, "made", [f"{top}&offset={k}" for k in random_offsets(OFFSETS, total - LIMIT)])
        return contest(bench, MADE, servers, paths=paths)


def read(bench, cluster):
    with both(bench, cluster, *WITHOUT_CACHES) as servers, GoOnPostgres(bench, cluster, "feed") as go:
        same_items([servers[POSTGRES], go])
        return contest(bench, READ, servers | {GO: go})


def deep(bench, cluster):
    """One request at a time, each page read from the database."""
    top = f"/rp/?feed={bench.data.big_feed}&limit={LIMIT}"
    with both(bench, cluster, *WITHOUT_CACHES, page=top) as servers:
        total = feed_total(servers[SQLITE], bench.data.big_feed)
        near = [f"{top}&offset={k}" for k in random_offsets(NEARBY, NEARBY)]
        far = [f"{top}&offset={k}" for k in random_offsets(NEARBY, min(DEPTH + NEARBY, total - LIMIT), DEPTH)]
        return {
            **contest(bench, TOP, servers, connections=1, paths=saved(bench, "near", near)),
            **contest(bench, DEEP, servers, connections=1, paths=saved(bench, "far", far))}


def increments(bench, cluster):
    """Single writes by 64 clients to many items, each answered when it is durable."""
    top = f"/rp/?feed={bench.data.big_feed}&limit=100"
    database = bench.data.copy(bench.data.big(), bench.folder / "increments.sqlite")
    with Lookahead(bench, database) as sqlite, LookaheadOnPostgres(bench, cluster, "feed") as postgres, \
            GoOnPostgres(bench, cluster, "feed") as go:
        ids = [item for offset in range(0, INCREMENTED, 100) for item in sqlite.ids(f"{top}&offset={offset}")]
        paths = saved(bench, "increments", [f"/v1/items/{quote(item, safe='')}/counters" for item in ids])
        servers = {SQLITE: sqlite, POSTGRES: postgres, GO: go}
        return contest(bench, COUNT, servers, paths=paths, posted=ONE, fields=FIELDS)
