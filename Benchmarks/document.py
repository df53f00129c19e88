"""Writes what was measured into docs/benchmarks.md, between its markers, with charts beside it."""

import charts
from tables import lines_table, ratios_table, reasons

BEGIN = "<!-- script/bench --write: begin -->"
END = "<!-- script/bench --write: end -->"
TOLD = {
    "processor": "Processor", "cores": "Cores", "memory": "Memory", "kernel": "Linux",
    "system": "System", "lookahead": "Lookahead", "swift": "Swift", "sqlite": "SQLite",
    "nginx": "nginx", "go": "Go", "wrk": "wrk", "datasette": "Datasette",
    "hummingbird": "Hummingbird", "grdb": "GRDB", "postgres": "PostgreSQL", "pgx": "pgx"}


def write(folder, results):
    """Replaces what stands between the markers, and the charts."""
    file = folder / "benchmarks.md"
    text = file.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise SystemExit(f"{file.name} lacks the markers of script/bench")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    drawn = charts.write(folder, results)
    file.write_text(f"{before}{BEGIN}\n\n{measured(results, drawn)}\n\n{END}{after}")
    (folder / "benchmarks.json").write_text(results.file.read_text())


def measured(results, drawn):
    """All tables in Markdown, and the charts where they belong."""
    rows = [(name, results.row(name)) for name in results.names()]
    parts = [machine(results), "### What is reached", ratios_table(rows)]
    for name, row in rows:
        kept = results.rows[name]
        runs = f"{kept['runs']} runs of {kept['seconds']} s each" if not kept["quick"] else "quick"
        parts += [f"### {row['title']}", lines_table(row),
                  f"`{name}`, {kept['date']}, {runs}, {reasons(kept['thrown'])} thrown away."]
        parts += [f"![{alternative}]({file})" for file, alternative in drawn.get(name, [])]
    return "\n\n".join(parts)


def machine(results):
    """The machine and the versions; more than one where rows come from different ones."""
    seen = {}
    for name in results.names():
        told = "; ".join(f"{TOLD[key]} {value}" for key, value in
                         results.rows[name]["machine"].items())
        seen.setdefault(told, []).append(name)
    if len(seen) == 1:
        return f"{next(iter(seen))}."
    return "\n".join(f"- {', '.join(names)}: {told}." for told, names in seen.items())
