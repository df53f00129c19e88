"""Looks for texts over HTTP in a large database, and compares what writes cost with and without the index."""

import contextlib
import http.client
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

from running import TOKEN, RunningServer

SEED = 20_120_728
ITEMS = 300_000
SEARCHES = 600
PUTS = 500
MEDIAN_MILLISECONDS = 5
WRITES = 1.2


def seed(program, folder, source):
    """Seconds on the clock, and of processors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run(
        [program, 'seed', '--database', os.path.join(folder, 'feed.sqlite'), *source], check=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processors = sum(getattr(after, name) - getattr(before, name)
                     for name in ('ru_utime', 'ru_stime'))
    return time.monotonic() - start, processors


class Client:
    """One connection to a server, as a writer."""

    def __init__(self, server):
        self.connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=120)

    def request(self, method, path, body=None):
        """Status, body, and how many milliseconds it took."""
        headers = {'Authorization': 'Bearer ' + TOKEN}
        if body is not None:
            headers['Content-Type'] = 'application/json'
        start = time.monotonic()
        self.connection.request(method, path, body, headers)
        answer = self.connection.getresponse()
        content = answer.read()
        return answer.status, content, 1_000 * (time.monotonic() - start)


class Instructions:
    """Counts what a process takes in user space, where there is a perf that can; `each` is then how many for each of `count`."""

    def __init__(self, server):
        self.process = shutil.which('perf') and subprocess.Popen(
            ['perf', 'stat', '--field-separator', ',', '--event', 'instructions:u', '--pid', str(server.process.pid)],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def each(self, count):
        if not self.process:
            return None
        self.process.send_signal(signal.SIGINT)
        counted = re.search(r'^(\d+),', self.process.communicate(timeout=60)[1], re.M)
        return int(counted[1]) / count if counted else None


def puts(*sides):
    """Of single writes to a server of each program and folder, by turns: the median in milliseconds, and instructions."""
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(RunningServer(*side)) for side in sides]
        clients = [Client(server) for server in servers]
        for index in range(PUTS // 10):
            for client in clients:
                put(client, -1 - index)
        counters = [Instructions(server) for server in servers]
        time.sleep(1)
        times = [[] for _ in clients]
        for index in range(PUTS):
            for side in random.sample(range(len(clients)), len(clients)):
                times[side].append(put(clients[side], index))
        return [(statistics.median(one), counter.each(PUTS)) for one, counter in zip(times, counters)]


def put(client, index):
    body = json.dumps({'type': 'text', 'title': f'Search check number {index} of words and more words',
                       'feeds': [{'name': 'check-search', 'rank': 1_000 + index}]})
    status, content, taken = client.request('PUT', f'/v1/items/check-search-{index}', body)
    if status not in (201, 204):
        sys.exit(f'PUT was answered {status}: {content[:300]}')
    return taken


def queries(client, choice):
    """Words that items have, alone and together, beginnings, phrases, and some that none has."""
    words = []
    after = ''
    for _ in range(20):
        _, content, _ = client.request('GET', '/v1/items?limit=100' + after)
        page = json.loads(content)
        for item in page['items']:
            title = item['record'].get('title') or item['record'].get('text') or ''
            found = [''.join(letter for letter in word if letter.isalnum()) for word in title.split()]
            words.append([word for word in found if word])
        if page['paging']['next'] is None:
            break
        after = '&after=' + page['paging']['next']
    words = [found for found in words if len(found) > 1]
    for _ in range(SEARCHES):
        found = choice.choice(words)
        start = choice.randrange(len(found) - 1)
        yield choice.choice([
            lambda: found[start] + ' ', lambda: f'{found[start]} {choice.choice(found)} ',
            lambda: '"' + ' '.join(found[start:start + 2]) + '"', lambda: found[start][:5],
            lambda: found[0] + ' xyzzy', lambda: ' '.join(found[:4]),
        ])()


def search(program, folder, choice):
    """How many milliseconds searches took, in order, and how many found nothing."""
    times, empty = [], 0
    with RunningServer(program, folder) as server:
        client = Client(server)
        for query in queries(client, choice):
            status, content, taken = client.request('GET', '/v1/items?' + urllib.parse.urlencode({'q': query}))
            # Some have only what is no letter.
            if status == 400:
                continue
            if status != 200:
                sys.exit(f'{query!r} was answered {status}: {content[:300]}')
            empty += not json.loads(content)['items']
            times.append(taken)
    return sorted(times), empty


# What the index is given goes nowhere; the words are still made.
SWALLOW = """
DROP TABLE post_text;
CREATE VIEW post_text AS SELECT 0 AS rowid, '' AS words WHERE 0;
CREATE TRIGGER post_text_put INSTEAD OF INSERT ON post_text BEGIN SELECT 1; END;
CREATE TRIGGER post_text_taken INSTEAD OF DELETE ON post_text BEGIN SELECT 1; END;
"""


def make_without_index(program, folder):
    """A database that finds nothing by words."""
    database = os.path.join(folder, 'feed.sqlite')
    subprocess.run([program, 'migrate', 'up', '--database', database], check=True, stdout=subprocess.DEVNULL)
    connection = sqlite3.connect(database, isolation_level=None)
    connection.executescript(SWALLOW)
    connection.close()


def compare(program, baseline, folder, source, processors):
    """What the index costs: beside another program, or else beside the same one on a database without it."""
    with tempfile.TemporaryDirectory() as other:
        if baseline is None:
            make_without_index(program, other)
            baseline = program
        seconds, before = seed(baseline, other, source)
        print(f'seed without the index: {seconds:.1f} s, {before:.1f} s of processors; with it '
              f'{processors / before:.2f} times as much (aim: {WRITES})', flush=True)
        (plain, fewer), (indexed, more) = puts((baseline, other), (program, folder))
        counts = f'; instructions {more:,.0f} and {fewer:,.0f}, {more / fewer:.2f} times' if more and fewer else ''
        print(f'PUT by turns: median {indexed:.2f} ms; without the index {plain:.2f} ms; '
              f'{indexed / plain:.2f} times as long (aim: {WRITES}){counts}', flush=True)


def main(program, *source):
    source = list(source) or ['--generate', str(ITEMS)]
    with tempfile.TemporaryDirectory() as folder:
        seconds, processors = seed(program, folder, source)
        size = os.path.getsize(os.path.join(folder, 'feed.sqlite')) >> 20
        print(f'seed: {seconds:.1f} s, {processors:.1f} s of processors, {size} MB', flush=True)
        compare(program, os.environ.get('LOOKAHEAD_BASELINE'), folder, source, processors)
        times, empty = search(program, folder, random.Random(SEED))
        median, late = times[len(times) // 2], times[int(len(times) * 0.99)]
        print(f'{len(times)} searches, {empty} of them without an item: median {median:.2f} ms, '
              f'99 % within {late:.2f} ms, the slowest {times[-1]:.2f} ms')
        if median > MEDIAN_MILLISECONDS:
            sys.exit(f'the median is above {MEDIAN_MILLISECONDS} ms')


main(*sys.argv[1:])
