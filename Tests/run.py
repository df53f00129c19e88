#!/usr/bin/env python3
"""Runs every test of the build that is there: each target in a process of its own, some at a time.

Most tests wait for a server, a disk or a program, and each blocks one of the few threads that Swift's concurrency
has in a process. So one process leaves cores idle; several keep them busy, and a target that fails or dies takes no
other along. A process that says nothing for a long time is ended, with the names of the tests that it was at: this
is the only limit of time on a test, as a limit on each would count its waiting for a core.

    Tests/run.py BUNDLE [TARGET...]
"""
import argparse
import collections
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
ENDED = re.compile(r'Test run with (\d+) tests? in (\d+) suites?')


class Target:
    """A target of tests, and the process that runs it."""

    def __init__(self, name, bundle, folder):
        self.name = name
        self.bundle = bundle
        self.log = folder / f'{name}.log'
        self.tests = 0
        self.seconds = 0.0
        self.is_silent = False
        self.status = None

    def run(self, silence_seconds):
        began = last = time.monotonic()
        size = 0
        # A crash should end the process at once and not wait for a debugger.
        environment = dict(os.environ, SWIFT_BACKTRACE='enable=no')
        with open(self.log, 'wb') as log:
            process = subprocess.Popen(
                [self.bundle, '--testing-library', 'swift-testing', '--parallel', '--filter', f'^{self.name}\\.'],
                cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
            while True:
                try:
                    self.status = process.wait(timeout=1)
                    break
                except subprocess.TimeoutExpired:
                    now = time.monotonic()
                    grown = self.log.stat().st_size
                    if grown != size:
                        size, last = grown, now
                    elif now - last > silence_seconds:
                        self.is_silent = True
                        process.send_signal(signal.SIGKILL)
        self.seconds = time.monotonic() - began
        for match in ENDED.finditer(self.text()):
            self.tests = int(match[1])

    def text(self):
        text = self.log.read_text(encoding='utf-8', errors='replace')
        return re.sub(r'\x1b\[[0-9;]*m', '', text)

    @property
    def is_passed(self):
        return self.status == 0 and self.tests > 0

    def report(self, most_lines=40):
        """What failed, or what it was at when it ended."""
        lines = self.text().splitlines()
        wrong = [line[:800] for line in lines
                 if re.search(r'recorded an issue|[Ff]atal error|error: |failed after|Precondition', line)]
        if self.is_silent or (self.status or 0) < 0:
            begun = collections.Counter(
                match[1] for match in re.finditer(r'Test (?:case .* to )?"(.*)" started\.', '\n'.join(lines)))
            for match in re.finditer(r'Test "(.*)" (?:with .* )?(?:passed|failed) after', '\n'.join(lines)):
                begun.pop(match[1], None)
            wrong.append(f'not at their end: {"; ".join(sorted(begun)[:20])}')
        return wrong[-most_lines:] or lines[-5:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('bundle', help='the tests as they were built')
    parser.add_argument('targets', nargs='*', help='folders of Tests; all, if none is named')
    parser.add_argument('--jobs', type=int, default=4, help='processes at a time')
    parser.add_argument('--silence-seconds', type=int, default=1200, help='what is silent for so long is ended')
    arguments = parser.parse_args()

    folder = ROOT / '.build/tests'
    folder.mkdir(parents=True, exist_ok=True)
    sizes = {
        entry.name: sum(file.stat().st_size for file in entry.rglob('*.swift'))
        for entry in (ROOT / 'Tests').iterdir() if entry.name.endswith('Tests')}
    unknown = set(arguments.targets) - set(sizes)
    if unknown:
        parser.error(f'no target {", ".join(sorted(unknown))}')
    names = sorted(arguments.targets or sizes, key=sizes.__getitem__, reverse=True)
    waiting = collections.deque(Target(name, arguments.bundle, folder) for name in names)
    done, lock, began = [], threading.Lock(), time.monotonic()

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                target = waiting.popleft()
            target.run(arguments.silence_seconds)
            with lock:
                done.append(target)
                verdict = 'ok    ' if target.is_passed else 'FAILED'
                print(f'{verdict}  {target.name}: {target.tests} tests, {target.seconds:.0f} s', flush=True)
                if not target.is_passed:
                    reason = 'silent' if target.is_silent else f'status {target.status}'
                    print(f'        {reason}, see {target.log.relative_to(ROOT)}', flush=True)

    workers = [threading.Thread(target=work) for _ in range(max(1, arguments.jobs))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    failed = [target for target in done if not target.is_passed]
    for target in failed:
        print(f'what failed in {target.name}:')
        for line in target.report():
            print('  ' + line)
    tests = sum(target.tests for target in done)
    print(f'{tests} tests of {len(done)} targets in {time.monotonic() - began:.0f} s, '
          f'{len(failed)} targets failed', flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
