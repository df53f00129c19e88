"""What was measured, kept in a file: row by row, each from one call."""

import datetime
import json

from install import versions
from machine import facts
from rows import ROWS


class Results:
    """The file of results. Measuring a row again replaces what was there of it."""

    def __init__(self, file):
        self.file = file
        self.rows = json.loads(file.read_text()) if file.exists() else {}

    def add(self, name, row, bench):
        """Keeps a row with the machine that it was measured on, and writes the file."""
        old = self.rows.get(name, {}).get("row", {})
        if name == "sizes" and bench.sizes:
            # Sizes are measured in several calls: a large one takes minutes.
            row["lines"] = merged(old.get("lines", []), row["lines"])
        self.rows[name] = {
            "date": datetime.date.today().isoformat(),
            "machine": facts(bench.program) | versions(bench.built),
            "runs": bench.runs, "seconds": bench.seconds, "quick": bench.is_quick,
            "thrown": dict(bench.watch.thrown), "row": row}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.file.with_suffix(".new")
        unfinished.write_text(json.dumps(self.rows, indent=1, ensure_ascii=False) + "\n")
        unfinished.rename(self.file)

    def names(self):
        return [name for name in ROWS if name in self.rows]

    def row(self, name):
        return self.rows[name]["row"]

    def thrown(self, name):
        return self.rows[name]["thrown"]


def merged(old, new):
    """The lines of both by their number of posts, the new ones where both have them."""
    lines = {line["posts"]: line for line in [*old, *new]}
    return [lines[posts] for posts in sorted(lines)]
