"""The rows of the table, by the names that `--only` takes, in the order in which they are shown."""

from rows import connections, depth, hot, lab, memory, pages, reads, seeding, sizes, start, uncached

ROWS = {
    "hot": hot.measure,
    "pages": pages.measure,
    "depth": depth.measure,
    "uncached": uncached.measure,
    "memory": memory.measure,
    "start": start.measure,
    "seeding": seeding.measure,
    "reads": reads.measure,
    "lab": lab.measure,
    "connections": connections.measure,
    "loops": connections.measure_loops,
    "sizes": sizes.measure,
}
