#!/usr/bin/env python3
"""The alerts and the dashboard of docs/monitoring, against Prometheus: check_monitoring.py PROGRAM PROMETHEUS PROMTOOL.

promtool reads and tests the rules. Then two servers run that have something to tell of everything, one on SQLite and one
on PostgreSQL with a standby; Prometheus scrapes them with these rules, and each query of the dashboard and each alert's
expression has to find the figures that it names. Without PostgreSQL the check is skipped, once the rules are tested.
"""

import http.server
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent / "load")]

from checks import Skipped  # noqa: E402
from ports import free_port  # noqa: E402
from running import FIXTURES, TOKEN, RunningServer, wait_until  # noqa: E402

from pair import STANDBY, Pair  # noqa: E402

MONITORING = ROOT / "docs/monitoring"
FIGURE = re.compile(r"\b(?:lookahead|process)_\w+")

failures = []


def expect(holds, words):
    print(f"{'ok  ' if holds else 'FAIL'} {words}", flush=True)
    if not holds:
        failures.append(words)


def promtool(program, *arguments):
    done = subprocess.run([program, *arguments], cwd=MONITORING, capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0, f"promtool {' '.join(arguments)} {done.stdout + done.stderr if done.returncode else ''}")


class Prometheus:
    """One of one's own, in a folder, which scrapes servers every second."""

    def __init__(self, program, folder, targets):
        self.port = free_port()
        config = folder / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(MONITORING / "alerts.yml")],
            "scrape_configs": [{"job_name": "lookahead", "static_configs": [{"targets": targets}]}]}))
        self.log = open(folder / "prometheus.log", "wb")
        self.process = subprocess.Popen(
            [program, f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}",
             f"--web.listen-address=127.0.0.1:{self.port}"], stdout=self.log, stderr=self.log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=30)
        self.log.close()

    def ask(self, path, **parameters):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]

    def is_scraping(self):
        try:
            found = self.ask("query", query="up")["result"]
            return bool(found) and all(float(one["value"][1]) == 1 for one in found)
        except OSError:
            return False


class Cache(http.server.BaseHTTPRequestHandler):
    """A cache in front, as far as a server that purges it sees."""

    def do_PURGE(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def queries():
    """What the dashboard asks for: the panel and the expression."""
    dashboard = json.loads((MONITORING / "dashboard.json").read_text())
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    return [(panel["title"], target["expr"]) for panel in panels for target in panel["targets"]]


def use(server, folder):
    """Something of everything that there are figures of."""
    item = server.ask("GET", "/v1/feeds/featured/items?limit=5")
    ids = [one["id"] for one in json.loads(item[2])["items"]]
    (folder / "more.ndjson").write_text('{"id":"more","type":"text","feeds":[{"name":"newest"}]}\n')
    for number in range(30):
        for path in ("/rp/?feed=featured", "/v1/feeds/videos/items", f"/rp/?feed=newest&offset={number}", "/nowhere"):
            server.get(path, {"Accept-Encoding": "br"})
        server.ask("POST", "/v1/plan", {"feed": "featured", "items": ids, "active": ids[number % 5], "activeForMs": 0,
                                        "network": {"downlink": 780, "rtt": 200}})
        server.ask("PUT", f"/v1/items/made-{number}", {"type": "text"}, token=TOKEN)
        time.sleep(0.2)


def check_queries(prometheus):
    for title, expression in queries():
        asked = expression.replace("$__rate_interval", "10s").replace("$instance", ".*")
        try:
            found = prometheus.ask("query", query=asked)["result"]
        except OSError as error:
            found = []
            print(f"     {error}")
        expect(found, f"dashboard: {title}: {len(found)} series of {expression}")


def check_names(prometheus, servers):
    """A figure that is renamed would leave an alert that never sounds."""
    text = "".join(server.get("/metrics")[2].decode() for server in servers)
    told = set(re.findall(r"^(\w+)[ {]", text, re.M)) | set(re.findall(r"^# TYPE (\w+) histogram", text, re.M))
    rules = [rule for group in prometheus.ask("rules")["groups"] for rule in group["rules"]]
    expect(len(rules) > 10, f"Prometheus has {len(rules)} rules")
    for rule in rules:
        missing = set(FIGURE.findall(re.sub(r"\{.*?\}", "", rule["query"]))) - told
        expect(not missing and rule["health"] == "ok", f"alert {rule['name']}: {missing or 'all figures are told'}")
        expect(rule["state"] == "inactive", f"alert {rule['name']} is silent while all is well")
    for title, expression in queries():
        missing = set(FIGURE.findall(re.sub(r'"[^"]*"', "", expression))) - told
        expect(not missing, f"dashboard: {title}: {missing or 'all figures are told'}")
    # Those of a bucket are told by servers whose media lie in one: script/check-object-storage reads them.
    documented = {name for name in FIGURE.findall((ROOT / "docs/operations.md").read_text())
                  if not name.startswith("lookahead_media_store_")}
    expect(documented <= told, f"docs/operations.md names figures that there are {sorted(documented - told) or ''}")


def main():
    program, prometheus_program, tool = sys.argv[1:]
    promtool(tool, "check", "rules", "alerts.yml")
    promtool(tool, "test", "rules", "alerts-test.yml")
    try:
        check_figures(program, prometheus_program)
    except Skipped as reason:
        print(f"skipped: {reason}")
        sys.exit(1 if failures else 2)
    print(f"{len(failures)} failed")
    sys.exit(1 if failures else 0)


class PostgresServer(RunningServer):
    """A server of the pair, which reads its standby."""

    def __init__(self, program, folder, pair):
        folder.mkdir()
        super().__init__(program, folder, "--standby-database", pair.address(STANDBY))
        self.database = pair.address()

    def __enter__(self):
        self.command("seed", "--fixtures", str(FIXTURES))
        self.start()
        return self


def reads_standby(server):
    """Items are read; the standby is looked at once a second."""
    server.get("/v1/items/made-1")
    figures = server.get("/metrics")[2].decode()
    return re.search(r'^lookahead_postgres_standby_reads_total\{outcome="answered"\} [1-9]', figures, re.M)


def check_figures(program, prometheus_program):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        (folder / "backups").mkdir()
        cache = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Cache)
        threading.Thread(target=cache.serve_forever, daemon=True).start()
        server = RunningServer(
            program, folder, "--backup-folder", str(folder / "backups"),
            "--purge-url", f"http://127.0.0.1:{cache.server_port}/", "--tune", "suggest", media=FIXTURES / "media")
        with server, Pair(folder) as pair, PostgresServer(program, folder / "fleet", pair) as other:
            servers = [server, other]
            targets = [f"127.0.0.1:{one.port}" for one in servers]
            with Prometheus(prometheus_program, folder, targets) as prometheus:
                expect(wait_until(prometheus.is_scraping, 30), "Prometheus scrapes the servers")
                for one in servers:
                    use(one, folder)
                expect(wait_until(lambda: reads_standby(other), 30), "the standby is read")
                check_queries(prometheus)
                check_names(prometheus, servers)


if __name__ == "__main__":
    main()
