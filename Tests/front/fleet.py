"""Servers of one database with Varnish in front of them, all on the loopback, each ended by its process id."""

import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "load"))

from ports import free_port  # noqa: E402
from running import TOKEN, RunningServer, wait_until  # noqa: E402

VCL = ROOT / "docker" / "varnish"
# Whoever comes from here is none of the servers.
STRANGER = "127.0.0.2"


class Varnish:
    """docker/varnish as it is, but for where the servers are; use it with `with`."""

    def __init__(self, folder, ports):
        self.folder = pathlib.Path(folder) / "varnish"
        self.ports = ports
        self.port = free_port()
        self.process = None

    def __enter__(self):
        self.folder.mkdir()
        shutil.copy(VCL / "default.vcl", self.folder)
        (self.folder / "servers.vcl").write_text(self.servers())
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                ["varnishd", "-F", "-j", "none", "-n", self.folder / "work", "-a", f"127.0.0.1:{self.port}",
                 "-f", self.folder / "default.vcl", "-p", f"vcl_path={self.folder}",
                 "-p", "http_gzip_support=off", "-s", "malloc,256m"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if not wait_until(self.answers, 30):
            self.__exit__()
            raise RuntimeError(f"varnishd did not start: {(self.folder / 'log').read_text()[-2000:]}")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)

    def servers(self):
        """servers.vcl with the ports of this machine for the hosts of a fleet, and no network but the loopback's
        first address."""
        text = (VCL / "servers.vcl").read_text()
        backend = re.search(r"^backend server1 .*\n", text, re.M)[0]
        addition = re.search(r"^ *servers.add_backend.*\n", text, re.M)[0]
        backends = additions = ""
        for number, port in enumerate(self.ports, 1):
            backends += (backend.replace("backend server1", f"backend server{number}")
                         .replace('"server1"', '"127.0.0.1"').replace('"8080"', f'"{port}"'))
            additions += addition.replace("server1", f"server{number}")
        text = re.sub(r"(^backend .*\n)+", backends, text, flags=re.M)
        text = re.sub(r"(^ *servers.add_backend.*\n)+", additions, text, flags=re.M)
        return text.replace('"127.0.0.0"/8;', '"127.0.0.1";').replace('"10.203.1.0"/24;', "")

    def answers(self):
        if self.process.poll() is not None:
            return False
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        except OSError:
            return False

    def counts(self):
        """Varnish's own counters by name."""
        said = subprocess.run(["varnishstat", "-1", "-j", "-n", self.folder / "work"],
                              capture_output=True, text=True, check=True).stdout
        counters = json.loads(said)
        return {name: entry["value"] for name, entry in counters.get("counters", counters).items()
                if isinstance(entry, dict)}


    def finds_all(self):
        """Whether the last two probes of every server were answered: the lowest bits of what the counter is."""
        happy = [value for name, value in self.counts().items() if name.endswith(".happy")]
        return len(happy) == len(self.ports) and all(value & 3 == 3 for value in happy)


class Server(RunningServer):
    """One of several servers of a database, with a log of its own."""

    def __init__(self, program, folder, number, *options):
        super().__init__(program, folder, "--log-level", "warning", "--trusted-proxies", "127.0.0.1", *options)
        self.log = pathlib.Path(folder) / f"server{number}.log"
        self.port = free_port()


class Fleet:
    """This many servers, and Varnish that they purge, unless told otherwise; use it with `with`."""

    token = TOKEN

    def __init__(self, program, folder, count, *options, records=(), through=None, purges=True):
        """
        `through` makes another port of a server's: what Varnish asks instead of it.
        """
        self.purges = purges
        self.folder = pathlib.Path(folder)
        self.servers = [Server(program, folder, number) for number in range(1, count + 1)]
        self.records = records
        self.through = through or (lambda port: port)
        self.options = options
        self.varnish = None

    def __enter__(self):
        first = self.servers[0]
        first.command("seed", "--fixtures", str(ROOT / "Fixtures"))
        if self.records:
            records = self.folder / "records.ndjson"
            records.write_text("".join(json.dumps(record) + "\n" for record in self.records))
            first.command("seed", str(records))
        self.varnish = Varnish(self.folder, [self.through(server.port) for server in self.servers])
        for server in self.servers:
            purging = ["--purge-url", f"http://127.0.0.1:{self.varnish.port}/"] if self.purges else []
            server.options += [*purging, *self.options]
        try:
            for server in self.servers:
                server.start()
            self.varnish.__enter__()
            # Whoever found no Varnish to purge rests before the next attempt, for seconds where Varnish was slow to start.
            if self.purges and not wait_until(lambda: all(map(purges_done, self.servers)), 60):
                raise RuntimeError("not every server has purged Varnish")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for server in self.servers:
            if server.is_running():
                server.kill()
        if self.varnish.process and self.varnish.process.poll() is None:
            self.varnish.__exit__()

    def purged(self):
        """How many purges the servers have seen done."""
        return sum(purges_done(server) for server in self.servers if server.is_running())


def purges_done(server):
    return sum(int(value) for name, value in server.metrics().items()
               if name.startswith("lookahead_purges_total") and 'outcome="done"' in name)


__all__ = ["Fleet", "ROOT", "STRANGER", "Server", "TOKEN", "Varnish", "free_port", "wait_until"]
