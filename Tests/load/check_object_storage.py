"""Backups and media files in a bucket, against a store of its own (moto in server mode). See script/check-object-storage."""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

import check_media_bucket as media
import check_signatures as signatures
from checks import Checks, require
from ports import free_port
from running import RunningServer, environment, wait_until

KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "secret-of-the-tests", "AWS_REGION": "eu-central-1"}


class Store:
    """moto on a free port; its memory is what it stores."""

    def __init__(self):
        self.port = free_port()
        self.start()
        os.environ.update(KEYS, AWS_ENDPOINT_URL=f"http://127.0.0.1:{self.port}")

    def start(self):
        self.process = subprocess.Popen(
            ["moto_server", "-H", "127.0.0.1", "-p", str(self.port)], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        require(wait_until(self.answers, 60), "the store does not start")
        self.ask("PUT", "/backups")

    def answers(self):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/moto-api/", timeout=2)
            return True
        except OSError:
            return False

    def ask(self, method, path):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method)
        return urllib.request.urlopen(request, timeout=20).read().decode()

    def keys(self):
        text = self.ask("GET", "/backups?list-type=2")
        return [part.split("</Key>")[0] for part in text.split("<Key>")[1:]]

    def stop(self):
        self.process.kill()
        self.process.wait()


def command(program, folder, *arguments, database="feed.sqlite"):
    return subprocess.run(
        [program, *arguments], env=environment(LOOKAHEAD_DATABASE=str(pathlib.Path(folder) / database)),
        capture_output=True, text=True, timeout=900)


def restored(program, folder, source, database):
    done = command(program, folder, "restore", source, database=database)
    require(done.returncode == 0, f"restore {source}: {done.stdout}{done.stderr}")
    done = command(program, folder, "check", database=database)
    require(done.returncode == 0, f"check: {done.stdout}")
    return command(program, folder, "export", database=database).stdout


def series(program, folder, store):
    """A server makes backups, keeps the newest, and each of them is restored."""
    options = ["--backup-folder", "s3://backups/feeds/one", "--backup-interval-seconds", "1", "--backups-kept", "3"]
    with RunningServer(program, folder, *options) as server:
        exported = server.command("export")
        require(wait_until(lambda: server.metrics()['lookahead_backups_total{outcome="made"}'] >= 5, 60),
                "no backups: " + server.log.read_text()[-800:])
        require(server.terminate() == 0, "the server does not end")
    keys = store.keys()
    require(len(keys) == 3 and all(key.startswith("feeds/one/feed-0000") for key in keys), f"{keys}")
    require(not list(pathlib.Path(folder).glob("feed.sqlite-backups/feed-*")), "a copy stays beside the database")
    for index, source in enumerate(["s3://backups/feeds/one/", f"s3://backups/{keys[0]}"]):
        require(restored(program, folder, source, f"r{index}.sqlite").strip() == exported.strip(), f"{source} differs")
    for source, words in [("s3://backups/feeds/none/", "no backup"), ("s3://nothing/x/", "NoSuchBucket"),
                          ("s3://backups/feeds/one/feed-999999-20260101T000000Z.sqlite.gz", "no backup"),
                          ("s3://b", "not the address")]:
        done = command(program, folder, "restore", source, database="none.sqlite")
        require(done.returncode != 0 and words in done.stderr, f"{source}: {done.stderr}")
        require(not list(pathlib.Path(folder).glob("none.sqlite*")), f"{source} left something")
    return f"{len(keys)} of {keys[-1].split('-')[1]} kept, newest and oldest restored"


def large(program, folder, store):
    """A backup in parts, and the store that is killed and comes back without what it had."""
    target = pathlib.Path(folder) / "large"
    target.mkdir()
    seeded = command(program, target, "seed", "--generate", "150000")
    require(seeded.returncode == 0, seeded.stderr)
    options = ["--backup-folder", "s3://backups/large", "--backup-interval-seconds", "3", "--no-backup-compression"]
    with RunningServer(program, target, *options) as server:
        exported = server.command("export")
        made, failed = (f'lookahead_backups_total{{outcome="{one}"}}' for one in ("made", "failed"))
        require(wait_until(lambda: server.metrics()[made] >= 1, 120), server.log.read_text()[-800:])
        store.stop()
        time.sleep(random.random())
        require(wait_until(lambda: server.metrics()[failed] >= 1, 120), "a store that is gone is not noticed")
        require(server.get("/readyz")[0] == 200, "it serves no more")
        store.start()
        before = server.metrics()[made]
        require(wait_until(lambda: server.metrics()[made] > before, 120), server.log.read_text()[-800:])
        server.terminate()
    size = (target / "feed.sqlite").stat().st_size
    require(size > 2 * (16 << 20), f"{size} bytes are not several parts")
    require(restored(program, target, "s3://backups/large/", "back.sqlite").strip() == exported.strip(), "differs")
    return f"{size >> 20} MiB in parts; a store that was away for a while"


def given_up(program, folder, store):
    """What killed servers left of backups in parts goes with the next backup, and nothing of anybody else."""
    names = ["left/feed-000001-20260101T000000Z.sqlite.gz", "left/other-000001-20260101T000000Z.sqlite.gz", "left/notes"]
    for name in names:
        # To moto each was begun in 2010.
        store.ask("POST", f"/backups/{name}?uploads=")
    unfinished = lambda: [part.split("</Key>")[0] for part in store.ask("GET", "/backups?uploads=").split("<Key>")[1:]]
    require(len(unfinished()) == 3, f"{unfinished()}")
    with RunningServer(program, folder, "--backup-folder", "s3://backups/left", "--backup-interval-seconds", "1") as server:
        made = 'lookahead_backups_total{outcome="made"}'
        require(wait_until(lambda: server.metrics()[made] >= 2, 60), server.log.read_text()[-800:])
    require(sorted(unfinished()) == sorted(names[1:]), f"{unfinished()}")
    return "one of three"


def refused(program, folder, store):
    """Wrong keys and buckets are said before anything is served."""
    for variables, address, words in [
            ({"AWS_ACCESS_KEY_ID": ""}, "s3://backups/x", "AWS_ACCESS_KEY_ID"),
            ({}, "s3://no-such-bucket/x", "NoSuchBucket"), ({}, "s3://B", "not the address of a bucket"),
            ({"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, "s3://backups/x", "the request to the object store failed")]:
        done = subprocess.run(
            [program, "serve", "--port", "0", "--backup-folder", address],
            env=environment(LOOKAHEAD_DATABASE=str(pathlib.Path(folder) / "feed.sqlite"), **variables),
            capture_output=True, text=True, timeout=60)
        require(done.returncode != 0 and words in done.stderr, f"{address}: {done.returncode} {done.stderr}")
    return "keys, bucket, address, endpoint"


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    checks = Checks()
    require(shutil.which("moto_server"), "moto_server is missing: pip install 'moto[server]'")
    store = Store()
    try:
        with tempfile.TemporaryDirectory() as folder:
            checks.run("a series of backups", series, program, folder, store)
            checks.run("refused", refused, program, folder, store)
            checks.run("given up", given_up, program, folder, store)
            checks.run("large, and a store that goes", large, program, folder, store)
        bucket = media.Bucket(store)
        for name, check, *more in [
                ("reads", media.reads), ("slow clients", media.slow_clients), ("replaced", media.replaced),
                ("index", media.index), ("commands", media.commands), ("renditions", media.renditions), ("lists", media.listed), ("uploads", media.uploads),
                ("expired uploads", media.expired), ("failures", media.failures),
                ("store killed", media.store_killed), ("server killed", media.server_killed),
                ("side by side", media.beside, count), ("full spool", media.full_spool),
                ("delivered by the store", media.delivered), ("store away at the start", media.away_at_start)]:
            with tempfile.TemporaryDirectory() as folder:
                bucket.relay.set("pass")
                checks.run(f"media: {name}", check, program, folder, bucket, *more)
    finally:
        store.stop()
    signatures.run(program, checks)
    sys.exit(checks.status())


if __name__ == "__main__":
    main()
