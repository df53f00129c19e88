"""Counts the instructions that a request takes in user space, and compares them with limits.

callgrind runs one thread at a time and counts instead of measuring, so a count is the same on a busy
machine. The refresh and the item filler are kept out of it: the one by a long interval, the other by
waiting until it is done. Hashing is made deterministic, or else collisions would differ from run to run.
What the server does by a timer meanwhile can only add to a count, and a slow machine gives it more time
(once 970 000 instructions): so the requests are counted in windows, and the least of them is the figure.
"""

import os
import re
import socket
import subprocess
import sys
import tempfile
import time

from ports import free_port

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PATH = '/rp/?feed=featured&limit=30'
WINDOWS = 4
REQUESTS_PER_WINDOW = 50

# A limit further above what is counted would let that much more through unseen.
MOST_HEADROOM = 0.1

# What is counted: whether what is in the media files is known, options of the server, and how many
# instructions a request may take. The limits stand a tenth at the most above what was counted when they
# were set; lower them with what gets faster. On other machines libc chooses other ways to copy and compare,
# so too much headroom is noted and no fault.
LOGGED = ['--access-log']
MADE = ['--encoded-memory-bytes', '0']
READ = [*MADE, '--item-file-bytes', '0']
CASES = [
    ('a page asked for before', False, [], 18_700),
    ('a page asked for before, with its line in the access log', False, LOGGED, 24_800),
    ('a page made of encoded items', False, MADE, 81_000),
    ('a page read from SQLite', False, READ, 920_000),
    ('a page with truth, made of encoded items', True, MADE, 83_000),
    ('a page with truth, read from SQLite', True, READ, 2_150_000),
]
MEDIA = os.path.join(ROOT, 'Fixtures', 'media')
# What is known of the files is known before: nobody looks into them meanwhile.
SERVED = ['--media-root', MEDIA, '--media-probe-cpu-percent', '0']


class Client:
    """One connection that asks for the same page again and again."""

    def __init__(self, port):
        self.socket = socket.create_connection(('127.0.0.1', port), timeout=60)
        self.file = self.socket.makefile('rb')

    def get(self, path):
        self.socket.sendall(f'GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n'.encode())
        status = int(self.file.readline().split()[1])
        length = 0
        while (line := self.file.readline()) != b'\r\n':
            if line.lower().startswith(b'content-length:'):
                length = int(line.split(b':')[1])
        return status, self.file.read(length)


def connect(port, process):
    """A client, as soon as the server listens; under valgrind that takes a while."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        try:
            client = Client(port)
            if client.get('/readyz')[0] == 200:
                return client
        except OSError:
            pass
        time.sleep(0.2)
    sys.exit('the server does not become ready')


def wait_for_items(client, total):
    """Until every item is in the file."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        metrics = client.get('/metrics')[1].decode()
        items = re.search(r'^lookahead_item_file_items (\d+)', metrics, re.MULTILINE)
        if items and int(items[1]) >= total:
            return
        time.sleep(0.2)
    sys.exit(f'the item file does not get its {total} items')


def instructions(program, database, options, total, folder):
    """How many instructions a request takes."""
    counts = os.path.join(folder, 'counts')
    port = free_port()
    with open(os.path.join(folder, 'log'), 'w') as log:
        process = subprocess.Popen(
            ['valgrind', '--tool=callgrind', f'--callgrind-out-file={counts}', '--instr-atstart=no',
             program, 'serve', '--database', database, '--port', str(port), '--event-loops', '1',
             *([] if '--access-log' in options else ['--no-access-log']),
             '--refresh-interval-milliseconds', '3600000', *options],
            stdout=log, stderr=log, env={**os.environ, 'SWIFT_DETERMINISTIC_HASHING': '1'})
    try:
        client = connect(port, process)
        if '--item-file-bytes' not in options:
            wait_for_items(client, total)
        for _ in range(20):
            assert client.get(PATH)[0] == 200
        control = ['callgrind_control', '-i']
        subprocess.run([*control, 'on', str(process.pid)], check=True, capture_output=True)
        for _ in range(WINDOWS):
            for _ in range(REQUESTS_PER_WINDOW):
                client.get(PATH)
            # Writes what was counted into a file of its own, and begins again at 0.
            subprocess.run(['callgrind_control', '-d', str(process.pid)], check=True, capture_output=True)
        subprocess.run([*control, 'off', str(process.pid)], check=True, capture_output=True)
        totals = [counted_total(f'{counts}.{window}') for window in range(1, WINDOWS + 1)]
    finally:
        process.terminate()
        process.wait(60)
    return min(totals) // REQUESTS_PER_WINDOW


def counted_total(path):
    with open(path) as lines:
        for line in lines:
            if line.startswith('totals:'):
                return int(line.split()[1])
    sys.exit('callgrind wrote no total')


def seeded(program, folder, with_truth):
    """A database of the fixtures, and how many posts it has."""
    database = os.path.join(folder, 'truth.sqlite' if with_truth else 'feed.sqlite')
    feed = os.path.join(ROOT, 'Fixtures', 'featured.ndjson')
    probing = ['--probe', '--media-root', MEDIA] if with_truth else []
    if not os.path.exists(database):
        subprocess.run([program, 'seed', '--database', database, *probing, feed],
                       check=True, capture_output=True)
    with open(feed, 'rb') as lines:
        return database, sum(1 for line in lines if b'"type"' in line)


def main(program):
    failures = 0
    with tempfile.TemporaryDirectory(prefix='lookahead-count-') as folder:
        # valgrind 3.19 gives up over what clang tells debuggers of C files, as ours have them.
        stripped = os.path.join(folder, 'lookahead')
        subprocess.run(['strip', '--strip-debug', '-o', stripped, program], check=True)
        for name, with_truth, options, limit in CASES:
            database, total = seeded(program, folder, with_truth)
            served = SERVED if with_truth else []
            count = instructions(stripped, database, [*options, *served], total, folder)
            verdict = 'ok    ' if count <= limit else 'FAILED'
            failures += count > limit
            headroom = limit / count - 1
            print(f'{verdict}  {name}: {count} instructions, {limit} allowed, {headroom:+.1%}',
                  flush=True)
            if headroom > MOST_HEADROOM:
                print(f'note    the limit is more than {MOST_HEADROOM:.0%} above that: '
                      f'{int(count * (1 + MOST_HEADROOM)) // 1000 * 1000} would do', flush=True)
    print(f'{len(CASES) - failures} passed, {failures} failed')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
