"""The rows of the table, by the names that `--only` takes, in the order in which they are shown."""

from rows import (
    connections, depth, engine, feeds, hot, lab, memory, pages, postgres, pruning, reads, seeding, sizes, start,
    uncached)

ROWS = {
    "hot": hot.measure,
    "pages": pages.measure,
    "truth": pages.measure_with_truth,
    "depth": depth.measure,
    "uncached": uncached.measure,
    "postgres": postgres.measure,
    "memory": memory.measure,
    "start": start.measure,
    "seeding": seeding.measure,
    "reads": reads.measure,
    "pruning": pruning.measure,
    "feeds": feeds.measure,
    "engine": engine.measure,
    "lab": lab.measure,
    "connections": connections.measure,
    "loops": connections.measure_loops,
    "sizes": sizes.measure,
    "ten-million": sizes.measure_ten_million,
}
