"""The commands of a document in Markdown: what stands in its blocks of `sh`."""

import re
import subprocess


class Command:
    """One command, with all its lines, and where it stands."""

    def __init__(self, file, line, text, heading):
        self.file, self.line, self.text, self.heading = file, line, text, heading

    def __str__(self):
        return f"{self.file.name}:{self.line}: {self.text.splitlines()[0]}"


def commands(file, info="sh"):
    """Those of the file, in order. A block whose fence says something else than `info` is not read."""
    heading, found, block = "", [], None
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if block is not None:
            if line.strip() == "```":
                found += _split(file, start, block, heading)
                block = None
            else:
                block.append(line.removeprefix(indent))
        elif fence := re.fullmatch(rf"(\s*)```{re.escape(info)}", line):
            indent, start, block = fence[1], number + 1, []
        elif title := re.match(r"#+ (.*)", line):
            heading = title[1]
    if block is not None:
        raise ValueError(f"{file}: the block of line {start} has no end")
    return found


def _split(file, start, lines, heading):
    """A command goes on as long as the shell says that something is missing."""
    found, open_lines = [], []
    for offset, line in enumerate(lines):
        if not open_lines and (not line.strip() or line.lstrip().startswith("#")):
            continue
        if not open_lines:
            first = start + offset
        open_lines.append(line)
        text = "\n".join(open_lines)
        if line.endswith("\\") or not _is_whole(text):
            continue
        found.append(Command(file, first, text, heading))
        open_lines = []
    if open_lines:
        raise ValueError(f"{file}:{first}: the command has no end")
    return found


def _is_whole(text):
    checked = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
    # A here-document without its end is a warning only.
    return checked.returncode == 0 and "here-document" not in checked.stderr
