"""Tables of what was measured, in Markdown; on a terminal they are readable as they are."""

# What a column is called, and how its figures are written.
COLUMNS = {
    "name": ("", str),
    "rate": ("requests/s", "{:,.0f}"),
    "cpu": ("CPU µs a request", "{:.1f}"),
    "p50": ("p50 µs", "{:,.0f}"),
    "p99": ("p99 µs", "{:,.0f}"),
    "longest": ("longest µs", "{:,.0f}"),
    "server_core": ("server's CPU", "{:.0%}"),
    "load_core": ("load's CPU", "{:.0%}"),
    "load_cpu": ("load's µs a request", "{:.1f}"),
    "per_core": ("requests a core-second of the server", "{:,.0f}"),
    "rss": ("RSS MB", "{:.1f}"),
    "pss": ("PSS MB", "{:.1f}"),
    "writes": ("writes/s", "{:,.0f}"),
    "milliseconds": ("median ms", "{:.1f}"),
    "least": ("least ms", "{:.1f}"),
    "most": ("most ms", "{:.1f}"),
    "posts": ("posts", "{:,.0f}"),
    "seconds": ("seconds", "{:.1f}"),
    "seed_rate": ("posts seeded/s", "{:,.0f}"),
    "quarter": ("RSS MB at ¼", "{:.1f}"),
    "half": ("at ½", "{:.1f}"),
    "end": ("at the end", "{:.1f}"),
    "peak": ("peak of seeding MB", "{:.1f}"),
    "peak_mb": ("peak MB", "{:.1f}"),
    "runs_rate": ("simulated runs/s", "{:,.0f}"),
    "file_mb": ("file MB", "{:,.1f}"),
    "ready_ms": ("ready ms", "{:,.1f}"),
    "first_page_ms": ("first page ms", "{:,.1f}"),
    "top_cold": ("top, cold µs", "{:,.0f}"),
    "top_hot": ("hot µs", "{:,.0f}"),
    "half_cold": ("half depth, cold µs", "{:,.0f}"),
    "half_hot": ("hot µs", "{:,.0f}"),
    "end_cold": ("end, cold µs", "{:,.0f}"),
    "end_hot": ("hot µs", "{:,.0f}"),
    "depth_cold": ("offset 250 000, cold µs", "{:,.0f}"),
    "depth_hot": ("hot µs", "{:,.0f}"),
    "increment": ("increment µs", "{:,.0f}"),
    "item": ("PUT of an item µs", "{:,.0f}"),
    "feed": ("PUT of a feed µs", "{:,.0f}"),
    "page": ("page µs", "{:,.0f}"),
    "list": ("list of feeds µs", "{:,.0f}"),
    "event": ("µs an event", "{:.2f}"),
    "early": ("RSS MB early", "{:.1f}"),
    "late": ("RSS MB at the end", "{:.1f}"),
}
LOAD_COLUMNS = ["name", "rate", "cpu", "p50", "p99", "server_core", "load_core", "rss", "pss"]


def markdown(header, rows):
    """A table with its columns lined up."""
    rows = [list(map(str, row)) for row in [header, *rows]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |"
             for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def written(name, value):
    """A figure as the table has it; of what was not measured there, nothing."""
    if value is None:
        return ""
    how = COLUMNS[name][1]
    return how(value) if callable(how) else how.format(value)


def lines_table(row):
    """The figures of a row, a line for each that was measured."""
    return markdown(
        [COLUMNS[name][0] for name in row["columns"]],
        [[written(name, line[name]) for name in row["columns"]] for line in row["lines"]])


def ratios_table(rows):
    """How the rows compare with what is to be reached."""
    return markdown(
        ["row", "", "measured", "to reach", ""],
        [[name, ratio["what"], f"{ratio['value']:.2f}", *goal(ratio)]
         for name, row in rows for ratio in row["ratios"]])


def goal(ratio):
    """What is to be reached, and whether it is; of what is but told, nothing."""
    if ratio["goal"] is None:
        return "", ""
    return (f"{'≥' if ratio['at_least'] else '≤'} {ratio['goal']:g}",
            "reached" if ratio["reached"] else "**not reached**")


def print_row(name, row, thrown):
    print(f"\n{row['title']}\n\n{lines_table(row)}\n")
    if row["ratios"]:
        print(ratios_table([(name, row)]))
    print(f"Runs thrown away: {reasons(thrown)}.", flush=True)


def reasons(thrown):
    """How many runs were thrown away, and why."""
    listed = ", ".join(f"{count} for {reason}" for reason, count in sorted(thrown.items()))
    return f"{sum(thrown.values())}" + (f" ({listed})" if listed else "")
