"""The charts of docs/benchmarks.md."""

import svg

WIDTH = 860


def write(folder, results):
    """Writes the charts whose rows were measured; file and words for each, by row."""
    made = {"uncached": cpu, "sizes": sizes, "connections": connections}
    drawn = {}
    for name, draw in made.items():
        if name not in results.names():
            continue
        words, picture = draw(results)
        file = f"benchmarks-{name}.svg"
        (folder / file).write_text(picture)
        drawn[name] = [(file, words)]
    return drawn


def cpu(results):
    """CPU time a request of every server, the same page."""
    figures = []
    if "hot" in results.names():
        lines = {line["name"]: line for line in results.row("hot")["lines"]}
        figures += [("Lookahead, hot page", lines["Lookahead"]["cpu"], 0),
                    ("nginx, static file", lines["nginx, static file"]["cpu"], 1)]
    if "pages" in results.names():
        line = results.row("pages")["lines"][-1]
        figures.append(("Lookahead, any page by offset", line["cpu"], 0))
    for line in results.row("uncached")["lines"]:
        is_ours = line["name"] == "Lookahead"
        figures.append((line["name"] + ", from SQLite", line["cpu"], 0 if is_ours else 1))
    title = "CPU time a request, page of 30 items"
    return title, svg.bars(title, "microseconds, logarithmic", figures, WIDTH)


def sizes(results):
    """Cost against the number of posts."""
    lines = results.row("sizes")["lines"]

    def series(name, key, is_dashed=False):
        return name, [(line["posts"], line[key]) for line in lines], is_dashed

    pages = [
        svg.Panel(f"A page, {words} (µs)", "posts", [
            series("top", f"top_{kind}"), series("half depth", f"half_{kind}", True),
            series("end", f"end_{kind}", True)])
        for kind, words in [("cold", "not asked for before"), ("hot", "asked for before")]]
    start = svg.Panel("Start (ms)", "posts", [
        series("ready", "ready_ms"), series("first page", "first_page_ms", True)])
    memory = svg.Panel("Memory and file (MB)", "posts", [
        series("server, RSS", "rss"), series("seeding, peak", "peak"), series("file", "file_mb")])
    seeding = svg.Panel("Seeding (posts a second)", "posts", [series("seeded", "seed_rate")])
    title = "Cost against size"
    return title, svg.panels(title, [pages, [start, seeding], [memory]], WIDTH, 240)


def connections(results):
    """Rate and slowest answers against the number of connections."""
    lines = results.row("connections")["lines"]

    def panel(title, key):
        return svg.Panel(title, "connections", [
            (server, [(line["connections"], line[key]) for line in lines
                      if line["server"] == server], False)
            for server in dict.fromkeys(line["server"] for line in lines)])

    title = "Cost against connections"
    return title, svg.panels(title, [
        [panel("Requests a second", "rate"), panel("CPU time a request (µs)", "cpu")],
        [panel("p99 (µs)", "p99"), panel("Memory of the server, PSS (MB)", "pss")],
    ], WIDTH, 240)
