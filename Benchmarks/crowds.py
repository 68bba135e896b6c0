"""Many downloads at once, and many records of downloads that are over."""

import json
import os
import sqlite3
import statistics
import time

import harness
from endurance import allow_descriptors
from harness import Nginx, Pawl, ROUNDS, medians

PAWL = "pawl (hashed, synced, published)"


def small_files(executable, parent=None, place="disk", count=5_000, size=16 << 10):
    """Thousands of small files, posted in batches."""
    with harness.Scratch(parent) as directory:
        source = harness.subdirectory(directory, "source")
        for number in range(count):
            with open(os.path.join(source, f"{number}.bin"), "wb") as file:
                file.write(os.urandom(size))
        origin = harness.started(Nginx(directory))
        urls = [f"{origin.base}/source/{number}.bin" for number in range(count)]
        links, curls = os.path.join(directory, "links"), os.path.join(directory, "curls")
        with open(links, "w", encoding="ascii") as file:
            file.write("\n".join(urls))

        def curl(out):
            with open(curls, "w", encoding="ascii") as file:
                for number, url in enumerate(urls):
                    file.write(f'url = "{url}"\noutput = "{out}/{number}.bin"\n')
            return harness.timed(["curl", "-s", "--parallel", "--parallel-max", "64", "-K", curls])

        contestants = {
            "aria2c -j64": lambda out: harness.timed(["aria2c", "-q", "-j64", "-d", out, "-i", links]),
            "curl --parallel --parallel-max 64": curl,
            "cp -r": lambda out: harness.timed(["cp", "-r", source, os.path.join(out, "copy")]),
            PAWL: lambda out: batches(executable, out, urls, size)[0],
        }
        results = {name: [] for name in contestants}
        for turn in range(ROUNDS + 1):
            for number, (name, measure) in enumerate(contestants.items()):
                # Nothing is deleted before the end: ext4 is slow to give out inodes beside many that were deleted lately.
                out = harness.subdirectory(directory, f"out-{turn}-{number}")
                os.sync()
                pair = measure(out)
                if turn:
                    results[name].append(pair)
        print(f"small: {count} files of {size >> 10} KiB on {place}, medians of {ROUNDS} rounds"
              " (wanted: 0.4 x aria2c's wall at most, 1.0 x curl's)")
        best = {name: medians(pairs) for name, pairs in results.items()}
        wall, cpu = best[PAWL]
        for name, (seconds, spent) in best.items():
            compared = "" if name == PAWL else f"   pawl is {wall / seconds:.2f} x wall, {cpu / spent:.2f} x CPU"
            print(f"  {name:36} {seconds:5.2f} s wall {spent:5.2f} s CPU{compared}", flush=True)


def batches(executable, home, urls, size, turns=1):
    """Posts all, a thousand at a time, and waits until all have completed; in a service of its own. Returns wall and CPU of each turn."""
    pawl = Pawl(executable, home, "--max-concurrent", "64", "--max-per-host", "64")
    try:
        pawl.get("/healthz")
        pairs = []
        for turn in range(turns):
            before, start = pawl.cpu(), time.monotonic()
            for first in range(0, len(urls), 1_000):
                made = pawl.post("/downloads/batch", {"downloads": [{"url": f"{url}?{turn}"} for url in urls[first:first + 1_000]]})
                if any(item["status"] != 201 for item in made["items"]):
                    raise SystemExit("a download of a batch was refused")
            while (states := json.loads(pawl.get("/stats"))["downloads"])["completed"] < (turn + 1) * len(urls):
                if states["failed"]:
                    raise SystemExit("a download failed")
                time.sleep(0.005)
            pairs.append((time.monotonic() - start, pawl.cpu() - before))
            # An origin is trusted to send nothing unasked after 0.25 s of silence.
            time.sleep(0.5)
    finally:
        pawl.stop()
    files = os.path.join(home, "data", "files")
    if len(os.listdir(files)) != turns * len(urls) or any(entry.stat().st_size != size for entry in os.scandir(files)):
        raise SystemExit("not all files are there")
    return pairs


def slow_crowd(executable, count=1_000):
    """Many transfers that come very slowly, and what they cost others."""
    allow_descriptors()
    with harness.Scratch() as directory:
        with open(os.path.join(directory, "paced.bin"), "wb") as file:
            file.truncate(4 << 20)
        origin = harness.started(Nginx(directory, paced="4k"))
        pawl = harness.started(Pawl(
            executable, directory, "--max-concurrent", str(count), "--max-per-host", str(count)))
        pawl.get("/healthz")
        idle, _ = pawl.resident()
        made = pawl.post("/downloads/batch", {"downloads": [{"url": f"{origin.base}/slow/paced.bin?{n}"} for n in range(count)]})
        one = made["items"][count // 2]["download"]["id"]
        while json.loads(pawl.get("/stats"))["downloads"]["downloading"] < count:
            time.sleep(0.05)
        time.sleep(5)
        before, begun = pawl.cpu(), time.monotonic()
        time.sleep(10)
        share = (pawl.cpu() - before) / (time.monotonic() - begun)
        resident, own = pawl.resident()
        waits = answer_times(pawl, [f"/downloads/{one}", "/stats", "/downloads?limit=50"], 300)
        with open(os.path.join(directory, "small.bin"), "wb") as file:
            file.truncate(1000)
        posts = [timed_call(lambda n=n: pawl.post("/downloads", {"url": f"{origin.base}/small.bin?{n}"})) for n in range(200)]
        after, _ = pawl.resident()
    print(f"crowd: {count} transfers at 4 KiB/s (wanted: 200 MiB, 25 % of one core, answers within 50 ms at the 99th percentile)")
    print(f"  {max(resident, after):.1f} MiB resident ({own:.1f} anonymous), {idle:.1f} before; {share * 100:.0f} % of one core")
    for name, times in {**waits, "POST /downloads": posts}.items():
        print(f"  {name.replace(one, '{id}'):24} p50 {median_ms(times):6.2f} ms   p99 {p99_ms(times):6.2f} ms")


def records(executable, finished=100_000, queued=10_000):
    """A service that has much behind it and much before it: its start, its memory and its lists."""
    sizes = {}
    with harness.Scratch() as directory:
        with open(os.path.join(directory, "paced.bin"), "wb") as file:
            file.truncate(4 << 20)
        origin = harness.started(Nginx(directory, paced="1k"))
        home = harness.subdirectory(directory, "home")
        Pawl(executable, home).stop()
        for name, counts in {"none": (0, 0), "finished": (finished, 0), "all": (0, queued)}.items():
            fill(os.path.join(home, "data", "pawl.sqlite"), origin.base + "/slow/paced.bin", *counts)
            times = []
            for turn in range(min(ROUNDS, 3)):
                begun = time.monotonic()
                pawl = Pawl(executable, home)
                pawl.get("/readyz")
                times.append(time.monotonic() - begun)
                if turn < min(ROUNDS, 3) - 1:
                    pawl.stop()
            time.sleep(1)
            sizes[name] = pawl.resident()
            if name == "all":
                middle = json.loads(pawl.get("/downloads?limit=200"))
                for _ in range(100):
                    middle = json.loads(pawl.get(f"/downloads?limit=200&cursor={middle['nextCursor']}"))
                waits = answer_times(pawl, [
                    "/healthz", "/downloads", "/downloads?limit=200", f"/downloads?limit=200&cursor={middle['nextCursor']}",
                    "/downloads?state=queued", "/downloads?state=completed", "/downloads?state=failed",
                    "/downloads?q=file-0099", "/downloads?label=none"], 1000)
            pawl.stop()
    each = (sizes["finished"][0] - sizes["none"][0]) * 1024 / finished
    print(f"records: {queued} queued, {finished} finished"
          " (wanted: ready within 2 s, pages within 10 ms at the 99th percentile, 1 KiB for each finished one)")
    print(f"  ready after {statistics.median(times):.2f} s; {sizes['all'][0]:.0f} MiB resident, {each:.2f} KiB for each finished one")
    for name, samples in waits.items():
        print(f"  {name.split('&cursor')[0] + (', in the middle' if 'cursor' in name else ''):36}"
              f" p50 {median_ms(samples):6.2f} ms   p99 {p99_ms(samples):6.2f} ms")


def fill(database, url, finished, queued):
    """Writes records as the service itself would have."""
    connection = sqlite3.connect(database)
    now = int(time.time() * 1000)
    columns = ("id", "url", "state", "filename", "media_type", "bytes_received", "bytes_total", "resumable", "file_missing",
               "segments", "attempts", "sha256", "priority", "speed_limit", "created_at", "started_at", "updated_at",
               "ended_at", "revision", "entity_known", "event_epoch", "event_sequence")

    def rows():
        for number in range(finished + queued):
            identity = ulid(now - (finished + queued - number) * 10, number)
            if number < finished:
                yield (identity, f"https://downloads.example.org/archive/file-{number:08}.bin", "completed",
                       f"file-{number:08}.bin", "application/octet-stream", 1 << 20, 1 << 20, 1, 0, 1, 1,
                       number.to_bytes(32, "big"), 0, 0, now, now, now, now, 3, 0, 0, 0)
            else:
                yield (identity, f"{url}?{number}", "queued", None, None, 0, None, None, 0, 0, 0, None, 0, 0, now, None, now,
                       None, 1, 0, 0, 0)

    # `compare` may measure a build from before the first release, which names two columns otherwise.
    present = {row[1] for row in connection.execute("PRAGMA table_info(downloads)")}
    renamed = {"segments": "connections", "ended_at": "completed_at"}
    columns = [name if name in present else renamed[name] for name in columns]
    with connection:
        connection.executemany(f"INSERT INTO downloads ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})", rows())
    connection.close()


def ulid(milliseconds, number):
    value = milliseconds << 80 | number
    return "".join("0123456789ABCDEFGHJKMNPQRSTVWXYZ"[value >> shift & 31] for shift in range(125, -1, -5))


def answer_times(pawl, paths, count):
    """Seconds that each path's answers take, the paths taking turns."""
    times = {path: [] for path in paths}
    for _ in range(count):
        for path in paths:
            times[path].append(timed_call(lambda: pawl.get(path)))
    return times


def timed_call(call):
    start = time.monotonic()
    call()
    return time.monotonic() - start


def median_ms(times):
    return statistics.median(times) * 1000


def p99_ms(times):
    return sorted(times)[len(times) * 99 // 100] * 1000
