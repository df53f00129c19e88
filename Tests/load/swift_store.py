"""OpenStack Swift with its middleware for S3 on free ports: a store that checks signatures, of requests and of URLs, the
time that they name, and the digests of bodies. Debian's python3-swift has it; all is in a folder, and ends with it."""

import os
import pathlib
import subprocess
import time
import urllib.error
import urllib.request

from ports import free_port

# Debian's own, which has the package; not the one that may stand before it in PATH.
PYTHON = "/usr/bin/python3"
INSTALLED = pathlib.Path("/usr/lib/python3/dist-packages/swift/common/wsgi.py")
REGION = "eu-central-1"
KEYS = {"AWS_ACCESS_KEY_ID": "team:writer", "AWS_SECRET_ACCESS_KEY": "secret+of/the=tests", "AWS_REGION": REGION}

RINGS = """
import sys
from swift.common.ring import RingBuilder
for name, port in zip(("account", "container", "object"), sys.argv[2:]):
    builder = RingBuilder(2, 1, 0)
    builder.add_dev({"id": 0, "region": 1, "zone": 1, "ip": "127.0.0.1", "port": int(port), "device": "disk", "weight": 1.0,
                     "replication_ip": "127.0.0.1", "replication_port": int(port), "meta": ""})
    builder.rebalance()
    builder.get_ring().save(f"{sys.argv[1]}/{name}.ring.gz")
"""
SERVE = """
import sys, types
from swift.common import utils
utils.set_swift_dir(sys.argv[1])
from swift.common.wsgi import run_wsgi

class Cache:
    # What memcached would do for the one process of the proxy.
    def __init__(self, app, values={}):
        self.app, self.values = app, values
    def __call__(self, env, start_response):
        env["swift.cache"] = self
        return self.app(env, start_response)
    def get(self, key, *arguments, **named):
        return self.values.get(key)
    def set(self, key, value, *arguments, **named):
        self.values[key] = value
    def delete(self, key, *arguments, **named):
        self.values.pop(key, None)

sys.modules["memory_cache"] = types.ModuleType("memory_cache")
sys.modules["memory_cache"].filter = lambda conf, **local: Cache
sys.exit(run_wsgi(f"{sys.argv[1]}/{sys.argv[2]}.conf", f"{sys.argv[2]}-server", verbose=True))
"""
NODE = """[DEFAULT]
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
disable_fallocate = true
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
log_level = WARNING
user = {user}
[pipeline:main]
pipeline = {name}-server
[app:{name}-server]
use = egg:swift#{name}
recon_cache_path = {folder}
"""
PROXY = """[DEFAULT]
swift_dir = {folder}
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
log_level = WARNING
user = {user}
[pipeline:main]
pipeline = catch_errors gatekeeper cache s3api tempauth bulk slo proxy-server
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
paste.filter_factory = memory_cache:filter
[filter:s3api]
use = egg:swift#s3api
location = {region}
[filter:tempauth]
use = egg:swift#tempauth
user_{account} = {secret} .admin
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
"""


class SwiftStore:
    """Use it with `with`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.processes = []
        ports = [free_port() for _ in range(4)]
        self.port = ports[3]
        (self.folder / "devices/disk").mkdir(parents=True)
        (self.folder / "swift.conf").write_text("[swift-hash]\nswift_hash_path_suffix = tests\n[storage-policy:0]\n"
                                                "name = one\ndefault = yes\n")
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        for name, port in zip(("account", "container", "object"), ports):
            (self.folder / f"{name}.conf").write_text(NODE.format(folder=folder, port=port, name=name, user=user))
        (self.folder / "proxy.conf").write_text(PROXY.format(
            folder=folder, port=self.port, user=user, region=REGION, secret=KEYS["AWS_SECRET_ACCESS_KEY"],
            account=KEYS["AWS_ACCESS_KEY_ID"].replace(":", "_")))
        self.run(RINGS, *map(str, ports[:3]), wait=True)

    def run(self, script, *arguments, wait=False):
        process = subprocess.Popen([PYTHON, "-c", script, str(self.folder), *arguments],
                                   stdin=subprocess.DEVNULL, stdout=open(self.folder / "log", "ab"), stderr=subprocess.STDOUT,
                                   env={"PATH": os.environ["PATH"], "HOME": str(self.folder)})
        if wait and process.wait() != 0:
            raise RuntimeError((self.folder / "log").read_text()[-2000:])
        return process

    def __enter__(self):
        for name in ("account", "container", "object", "proxy"):
            self.processes.append(self.run(SERVE, name))
        end = time.monotonic() + 60
        while not self.answers():
            if time.monotonic() > end or any(one.poll() is not None for one in self.processes):
                self.__exit__()
                raise RuntimeError("the store does not start: " + (self.folder / "log").read_text()[-2000:])
            time.sleep(0.1)
        return self

    def answers(self):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/none", timeout=5)
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True

    def __exit__(self, *_):
        for one in self.processes:
            one.kill()
            one.wait()

