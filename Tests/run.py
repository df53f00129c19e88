#!/usr/bin/env python3
"""Runs every test of the build that is there: each target in a process of its own or several, some at a time.

Most tests wait for a server, a disk or a program, and each blocks one of the few threads that Swift's concurrency
has in a process. So one process leaves cores idle; several keep them busy, and a target that fails or dies takes no
other along. In a process they run one by one: side by side they took an eighth more of a processor, as they wait by
asking again. A process that says nothing for a long time is ended, with the names of the tests that it was at: this
is the only limit of time on a test, as a limit on each would count its waiting for a core.

    Tests/run.py BUNDLE [TARGET...]
    Tests/run.py --repeat 10 --beside 8 BUNDLE    ten times, beside eight processes that never rest
"""
import argparse
import collections
import ctypes
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Each target of tests is a folder on its floor.
TARGETS = list((ROOT / 'Tests').glob('*/*Tests'))
ENDED = re.compile(r'Test run with (\d+) tests? in (\d+) suites?')


# What waits longest for programs, decoders, simulations and other databases: not for the hand.
SLOW = {'CommandTests', 'LabTests', 'MediaFormatsTests', 'MediaProbeTests', 'PostgresStoreTests', 'PrefetchClientTests',
        'SeedingTests', 'ServiceTests', 'StoreContractTests'}
RUNS_ONCE = bool(os.environ.get('LOOKAHEAD_RUN_ONCE'))
# A target with more source than this is run in parts, by its suites; what waits longest for programs in smaller ones, so that
# none is left alone at the end.
PART_BYTES = 60_000
SMALL_PARTS = {'CommandTests': 25_000}
# Spins until its standard input ends.
BUSY = """
import sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), __import__('os')._exit(0)), daemon=True).start()
while True: pass
"""


def end_descendants():
    """Asks all to end that this process or a test has started, and that are there still."""
    children = collections.defaultdict(list)
    for stat in pathlib.Path('/proc').glob('[0-9]*/stat'):
        try:
            pid, rest = int(stat.parent.name), stat.read_text().rpartition(')')[2].split()
        except OSError:
            continue
        if rest[0] != 'Z':
            children[int(rest[1])].append(pid)
    found = [os.getpid()]
    for parent in found:
        found += children[parent]
    for pid in found[1:]:
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            pass


def interrupt(number, _):
    end_descendants()
    os._exit(128 + number)


class Part:
    """The tests of a target, or some of its suites, and the process that runs them."""

    def __init__(self, name, size, selection, bundle, folder):
        self.name = name
        self.size = size
        self.selection = selection
        self.bundle = bundle
        self.log = folder / f'{name}.log'
        self.is_slow = name.split('-')[0] in SLOW
        self.tests = 0
        self.seconds = 0.0
        self.processor_seconds = 0.0
        self.is_silent = False
        self.status = None

    def run(self, silence_seconds):
        self.is_silent = False
        began = last = time.monotonic()
        size = 0
        # A crash should end the process at once and not wait for a debugger.
        environment = dict(os.environ, SWIFT_BACKTRACE='enable=no')
        with open(self.log, 'wb') as log:
            process = subprocess.Popen(
                [self.bundle, '--testing-library', 'swift-testing', '--no-parallel', *self.selection],
                cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
            while True:
                ended, status, usage = os.wait4(process.pid, os.WNOHANG)
                if ended:
                    self.status = process.returncode = os.waitstatus_to_exitcode(status)
                    self.processor_seconds = usage.ru_utime + usage.ru_stime
                    break
                time.sleep(0.2)
                now = time.monotonic()
                grown = self.log.stat().st_size
                if grown != size:
                    size, last = grown, now
                elif now - last > silence_seconds and not self.is_silent:
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


def parts(name, bundle, folder):
    """A target's parts, of about the same size each; the last one has every suite that no other has."""
    sizes = {file: file.stat().st_size for file in next(entry for entry in TARGETS if entry.name == name).rglob('*.swift')}
    total = sum(sizes.values())
    count = max(1, round(total / SMALL_PARTS.get(name, PART_BYTES)))
    if count == 1:
        return [Part(name, total, ['--filter', f'^{name}\\.'], bundle, folder)]
    suites = [(size, file.stem) for file, size in sizes.items() if file.stem.endswith('Tests')]
    shares = [[0, []] for _ in range(count)]
    for size, suite in sorted(suites, reverse=True):
        share = min(shares, key=lambda share: share[0])
        share[0] += size
        share[1].append(suite)
    selections = [f'^{name}\\.({"|".join(names)})/' for _, names in shares]
    made = [Part(f'{name}-{index}', size, ['--filter', selections[index]], bundle, folder)
            for index, (size, _) in enumerate(shares)]
    made[-1].selection = ['--filter', f'^{name}\\.', *(word for other in selections[:-1] for word in ('--skip', other))]
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('bundle', help='the tests as they were built')
    parser.add_argument('targets', nargs='*', help='folders of Tests; all, if none is named')
    parser.add_argument('--jobs', type=int, default=8, help='processes at a time')
    parser.add_argument('--silence-seconds', type=int, default=1200, help='what is silent for so long is ended')
    parser.add_argument('--repeat', type=int, default=1, help='how many times; the first that fails is the last')
    parser.add_argument('--beside', type=int, default=0, help='processes that keep the machine busy meanwhile')
    parser.add_argument('--quick', action='store_true', help='without the slowest targets')
    arguments = parser.parse_args()

    # What a process that died has left becomes a child of this one (prctl(2), PR_SET_CHILD_SUBREAPER), and ends with it.
    ctypes.CDLL(None).prctl(36, 1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    folder = ROOT / '.build/tests'
    folder.mkdir(parents=True, exist_ok=True)
    for log in folder.glob('*'):
        log.unlink()
    names = {entry.name for entry in TARGETS}
    unknown = set(arguments.targets) - names
    if unknown:
        parser.error(f'no target {", ".join(sorted(unknown))}')
    # A file's end tells them that this process has ended, however it did.
    busy = [subprocess.Popen([sys.executable, '-c', BUSY], stdin=subprocess.PIPE) for _ in range(arguments.beside)]
    status = 0
    for number in range(1, arguments.repeat + 1):
        if arguments.repeat > 1:
            print(f'run {number} of {arguments.repeat}', flush=True)
        status = run(arguments, names, folder)
        if status != 0:
            break
    end_descendants()
    return status


def run(arguments, names, folder):
    """Runs the tests once; the exit status."""
    made = [part for name in arguments.targets or names - (SLOW if arguments.quick else set())
            for part in parts(name, arguments.bundle, folder)]
    waiting = collections.deque(sorted(made, key=lambda part: (part.is_slow, part.size), reverse=True))
    done, again, lock, began = [], [], threading.Lock(), time.monotonic()

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                part = waiting.popleft()
            part.run(arguments.silence_seconds)
            # A machine with other work is at times slower than any wait allows. The seeds are the same in both runs. A
            # crash (a status below 0) is none of that. At night nothing runs again, so that what fails now and then is seen.
            if not part.is_passed and part.status > 0 and not RUNS_ONCE:
                with lock:
                    print(f'again   {part.name}, which failed:', *part.report(most_lines=10), sep='\n        ', flush=True)
                    again.append(part.name)
                part.log.rename(part.log.with_suffix('.first'))
                part.run(arguments.silence_seconds)
            with lock:
                done.append(part)
                verdict = 'ok    ' if part.is_passed else 'FAILED'
                print(f'{verdict}  {part.name}: {part.tests} tests, {part.seconds:.0f} s, '
                      f'{part.processor_seconds:.0f} s of a processor', flush=True)
                if not part.is_passed:
                    reason = 'silent' if part.is_silent else f'status {part.status}'
                    # At once and again at the end: whoever sees a part of the output sees why.
                    print(f'        {reason}, see {part.log.relative_to(ROOT)}',
                          *part.report(most_lines=10), sep='\n        ', flush=True)

    workers = [threading.Thread(target=work) for _ in range(max(1, arguments.jobs))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    failed = [part for part in done if not part.is_passed]
    for part in failed:
        print(f'what failed in {part.name}:')
        for line in part.report():
            print('  ' + line)
    tests = sum(part.tests for part in done)
    print(f'{tests} tests of {len(done)} processes in {time.monotonic() - began:.0f} s, '
          f'{len(failed)} failed, {len(again)} run again{": " if again else ""}{", ".join(again)}', flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
