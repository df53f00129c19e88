"""Damages media files at random and has them probed: check_probe.py PROGRAM [COPIES] [--seed N] [--jobs N]
[--media FOLDER].

Each copy gets an answer or an error in words, within two seconds and 200 MB, decoders included; none crashes
the program or has it hang. Ends with a line of figures; status 1 where something does not hold.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).parents[2]
LIMIT_SECONDS = 2
LIMIT_BYTES = 200 << 20
HANG_SECONDS = 30


def damaged(data, dice):
    """The bytes with one to six things done to them; tables are in the first and the last kilobyte."""
    data = bytearray(data)
    for _ in range(dice.randint(1, 6)):
        if len(data) <= 8:
            break
        place = dice.randrange(min(len(data), 1000) if dice.random() < 0.5 else len(data))
        if dice.random() < 0.25:
            place = len(data) - 1 - place
        match dice.randrange(5):
            case 0:
                data[place] ^= 1 << dice.randrange(8)
            case 1:
                data[place] = dice.randrange(256)
            case 2:
                for index in range(place, min(place + 4, len(data))):
                    data[index] = dice.choice((0, 255))
            case 3:
                del data[len(data) - dice.randrange(len(data)):]
            case _:
                piece = data[place:place + dice.randint(1, 64)]
                at = dice.randrange(len(data))
                data[at:at] = piece
    return bytes(data)


def probe(program, file):
    """What became of it: words of what is wrong or None, seconds, greatest resident bytes of any process."""
    begin = time.monotonic()
    process = subprocess.Popen(
        [program, "probe", file], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: os.nice(19))
    killer = threading.Timer(HANG_SECONDS, process.kill)
    killer.start()
    # It says little: less than a pipe holds.
    answer, said = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    killer.cancel()
    seconds = time.monotonic() - begin
    used = usage.ru_utime + usage.ru_stime
    wrong = None
    if process.returncode == 0:
        try:
            json.loads(answer)
        except ValueError:
            wrong = f"an answer that is no JSON: {answer[:200]!r}"
    elif process.returncode == 1:
        if not said.strip():
            wrong = "an error without words"
    else:
        wrong = f"status {process.returncode}: {said[-300:]!r}"
    return wrong, seconds, used, usage.ru_maxrss * 1024, process.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("copies", nargs="?", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    shared = ROOT.parent / "shared" / "data" / "media"
    parser.add_argument("--media", type=pathlib.Path,
                        default=shared if shared.exists() else ROOT / "Fixtures" / "media")
    options = parser.parse_intermixed_args()
    # Links to nothing and the list of the files are no media.
    files = sorted(file for file in options.media.rglob("*")
                   if file.is_file() and file.suffix not in (".json", ".md") and file.stat().st_size)
    print(f"{options.copies} damaged copies of {len(files)} files, --seed {options.seed}", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="lookahead-probe-"))

    def check(number):
        dice = random.Random(f"{options.seed}/{number}")
        original = dice.choice(files)
        copy = folder / f"{number}{original.suffix}"
        copy.write_bytes(damaged(original.read_bytes(), dice))
        wrong, seconds, used, memory, status = probe(options.program, copy)
        # On a machine that is busy with other things, what it used tells more than how long it took.
        if not wrong and seconds > LIMIT_SECONDS and used > LIMIT_SECONDS:
            wrong = f"{seconds:.2f} s, {used:.2f} s of them at work"
        if not wrong and memory > LIMIT_BYTES:
            wrong = f"{memory >> 20} MB"
        if wrong:
            kept = pathlib.Path(tempfile.gettempdir()) / f"lookahead-probe-{options.seed}-{number}{original.suffix}"
            shutil.copy(copy, kept)
            print(f"FAIL copy {number} of {original.name}: {wrong}; it is kept as {kept}", flush=True)
        copy.unlink()
        return wrong, seconds, used, memory, status

    try:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            done = []
            for result in pool.map(check, range(options.copies)):
                done.append(result)
                if len(done) % 1000 == 0:
                    print(f"{len(done)} done", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    failed = sum(1 for one in done if one[0])
    seconds = sorted(one[1] for one in done)
    print(f"{len(done)} copies: {sum(one[4] == 0 for one in done)} answers, "
          f"{sum(one[4] == 1 for one in done)} errors, {failed} that do not hold; "
          f"seconds: median {seconds[len(seconds) // 2]:.3f}, 99 % {seconds[len(seconds) * 99 // 100]:.3f}, "
          f"most {seconds[-1]:.3f} (at work {max(one[2] for one in done):.3f}); "
          f"most memory {max(one[3] for one in done) >> 20} MB")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
