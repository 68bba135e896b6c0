"""The soak: clients of several kinds, each in a thread of its own, and one thread that measures the process."""

import bisect
import collections
import hashlib
import http.client
import http.server
import json
import os
import random
import statistics
import subprocess
import sys
import threading
import time

import harness

# What a run may have more at its end than in its second quarter, when caches are filled and pools have grown.
MEMORY_MARGIN = 8 * 1024  # KiB
DESCRIPTOR_MARGIN = 40
# Downloads that are kept before the oldest are removed, so that the data directory does not grow either.
KEPT = 300
# How many answers to requests with a key the service remembers. Until it has that many, its memory grows as it should.
ANSWERS = 10_000
# Few enough that the search source's allowance of some twenty requests a minute is never used up.
TERMS = ["prelude", "fugue", "field recording", "nocturne", "harbour", "sonata", "waltz", "morning"]
FAULTS = ["503x2", "reset@40000;times=2", "truncate@30000;times=1", "slow-head@300", "change;times=1", "ignore-ranges", "404",
          "chunked", "no-validator", "retry-after=1,503x1", "stall@1000;times=1", "redirectx3", "gzip"]


class Latencies:
    """How long answers took, in a bounded histogram: a bound every five per cent."""

    BOUNDS = [0.0001 * 1.05 ** step for step in range(300)]

    def __init__(self):
        self.counts = [0] * (len(self.BOUNDS) + 1)
        self.worst = 0.0

    def add(self, seconds):
        self.counts[bisect.bisect_left(self.BOUNDS, seconds)] += 1
        self.worst = max(self.worst, seconds)

    @property
    def count(self):
        return sum(self.counts)

    def quantile(self, share):
        """Seconds under which that share of all lies."""
        wanted, sum_so_far = share * self.count, 0
        for bound, count in zip(self.BOUNDS, self.counts):
            sum_so_far += count
            if sum_so_far >= wanted:
                return bound
        return self.worst


class Client:
    """One connection, made anew when it was closed."""

    def __init__(self, soak, kind):
        self.soak, self.kind = soak, kind
        self.connection = None

    def send(self, method, path, body=None, fields=(), expected=()):
        """Returns status, fields and body; what is neither 2xx, 3xx nor expected is a failure of the soak."""
        headers = dict(fields)
        if body is not None:
            body = json.dumps(body)
            headers["Content-Type"] = "application/json"
        for attempt in (1, 2):
            fresh = self.connection is None
            if fresh:
                self.connection = http.client.HTTPConnection(*self.soak.pawl.address, timeout=60)
            begun = time.monotonic()
            try:
                self.connection.request(method, path, body, headers)
                answer = self.connection.getresponse()
                data = answer.read()
                break
            except (OSError, http.client.HTTPException) as error:
                self.connection.close()
                self.connection = None
                # One that was kept may have been closed for idleness just then.
                if fresh or attempt == 2:
                    self.soak.fail(f"{method} {path}: {error!r}")
                    return 0, {}, b""
        self.soak.note(self.kind, answer.status, time.monotonic() - begun)
        if answer.status >= 400 and answer.status not in expected:
            self.soak.fail(f"{method} {path}: {answer.status} {data[:200]!r}")
        if answer.will_close:
            self.connection.close()
            self.connection = None
        return answer.status, answer.headers, data


class Demo(harness.Pawl):
    """`pawl demo`, for its search sources."""

    def __init__(self, executable, directory, log):
        self.data = os.path.join(directory, "data")
        harness.Process.__init__(
            self, [executable, "demo", "--port", "0", "--data-dir", self.data, "--allow-destination", "127.0.0.1",
                   "--log-level", "error"], stdout=subprocess.PIPE, stderr=log, text=True)
        line = self.child.stdout.readline()
        if not line.startswith("listening on "):
            raise SystemExit("pawl did not start: " + line)
        self.base = line.split()[-1]
        self.address = ("127.0.0.1", int(self.base.rsplit(":", 1)[1]))


class Soak:
    def __init__(self, executable, upstream, seconds, rate, seed):
        """`upstream` is the executable of the origin."""
        self.executable, self.upstream, self.seconds, self.rate = executable, upstream, seconds, rate
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.statuses = collections.Counter()
        self.latencies = collections.defaultdict(Latencies)
        self.failures = collections.Counter()
        self.known = collections.deque()
        self.events = 0
        self.messages = 0
        self.files = 0
        self.samples = []
        self.isOver = threading.Event()

    # What the threads tell

    def note(self, kind, status, seconds):
        with self.lock:
            self.statuses[status] += 1
            self.latencies[kind].add(seconds)

    def fail(self, what):
        with self.lock:
            if len(self.failures) < 1000:
                self.failures[what] += 1
        print("  !", what, file=sys.stderr, flush=True)

    # The run

    def run(self):
        with harness.Scratch() as directory:
            log = open(os.path.join(directory, "log"), "wb")
            self.pawl = harness.started(Demo(self.executable, directory, log))
            receiver = self.receive_messages()
            self.webhook = f"http://127.0.0.1:{receiver.server_port}/hook"
            upstream = subprocess.Popen([self.upstream], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.origin = upstream.stdout.readline().strip()
            self.fill()
            threads = [threading.Thread(target=self.guarded, args=(each,), daemon=True) for each in self.clients()]
            for thread in threads:
                thread.start()
            self.watch()
            self.isOver.set()
            for thread in threads:
                thread.join(90)
                if thread.is_alive():
                    self.fail("a client still waits for an answer")
            after = self.settle()
            receiver.shutdown()
            status = self.end()
            upstream.communicate()
            log.close()
            # The demo says there, too, what could be tried.
            complaints = "".join(line for line in open(log.name, errors="replace") if "Z error " in line)
        return self.report(after, status, complaints)

    def fill(self):
        """Has as many answers remembered as ever will be. Each tells of a download of its own, which is removed again."""
        client = Client(self, "fill")
        for number in range(ANSWERS):
            order = {"url": f"{self.origin}/entity?size=1000&seed={number}&fault={FAULTS[number % len(FAULTS)]}", "paused": True,
                     "labels": ["a"], "priority": 1}
            _, _, data = client.send("POST", "/downloads", order, {"Idempotency-Key": f"fill-{number}"})
            client.send("DELETE", f"/downloads/{json.loads(data)['id']}")

    def clients(self):
        kinds = [(self.search, 0.15), (self.order, 0.2), (self.command, 0.2), (self.look, 0.25), (self.read_file, 0.15),
                 (self.remove, 0.05)]
        for act, share in kinds:
            # No more than ten a second from one thread.
            count = max(1, round(self.rate * share / 10))
            for _ in range(count):
                yield self.paced(act, self.rate * share / count)
        for number in range(8):
            yield lambda number=number: self.follow(number)

    def paced(self, act, rate):
        client, choice = Client(self, act.__name__), random.Random(self.random.random())

        def loop():
            due = time.monotonic()
            while not self.isOver.is_set():
                act(client, choice)
                # Never in a hurry to catch up: the rate is a most.
                due = max(due + choice.expovariate(rate), time.monotonic())
                self.isOver.wait(due - time.monotonic())
        return loop

    def guarded(self, loop):
        try:
            loop()
        except Exception as error:  # a client that is gone would make the load lighter unseen
            self.fail(f"a client gave up: {error!r}")

    # What clients do

    def search(self, client, choice):
        if choice.random() < 0.2:
            client.send("GET", "/search?source=posts&term=" + choice.choice(["qui", "est"]))
        else:
            term = choice.choice(TERMS).replace(" ", "+")
            client.send("GET", f"/search?term={term}&limit={choice.choice([10, 50])}")

    def order(self, client, choice):
        url = f"{self.origin}/entity?size={int(choice.paretovariate(0.8) * 10000) % 4000000}&seed={choice.randrange(1 << 30)}"
        if choice.random() < 0.3:
            url += "&fault=" + choice.choice(FAULTS)
        if choice.random() < 0.2:
            url += f"&pace={choice.choice([50000, 500000])}"
        order = {"url": url, "labels": [choice.choice(["a", "b"])], "priority": choice.randint(-10, 10)}
        if choice.random() < 0.2:
            order["webhook"] = self.webhook
        fields = {"Idempotency-Key": str(choice.randrange(1 << 60))} if choice.random() < 0.3 else {}
        status, _, data = client.send("POST", "/downloads", order, fields)
        if status == 201:
            with self.lock:
                self.known.append(json.loads(data)["id"])
        if fields and choice.random() < 0.3:
            again, _, repeated = client.send("POST", "/downloads", order, fields)
            if (again, repeated) != (status, data):
                self.fail("a repeated order was answered differently")

    def some(self, choice):
        with self.lock:
            return self.known[choice.randrange(len(self.known))] if self.known else None

    def command(self, client, choice):
        if (id := self.some(choice)) is None:
            return
        draw = choice.random()
        if draw < 0.02:
            client.send("POST", f"/downloads/{choice.choice(['pause', 'resume'])}?label=a")
        elif draw < 0.1:
            client.send("PATCH", f"/downloads/{id}", {"priority": choice.randint(-10, 10)}, expected=(404,))
        else:
            name = choice.choice(["pause", "resume", "resume", "resume", "retry", "cancel"])
            client.send("POST", f"/downloads/{id}/{name}", expected=(404, 409))

    def look(self, client, choice):
        id = self.some(choice)
        path = choice.choice(["/stats", "/healthz", "/readyz", "/metrics", "/downloads?limit=20", "/downloads?state=failed&q=seed"]
                             + [f"/downloads/{id}"] * 6 + [f"/downloads/{id}?wait=1"])
        status, fields, data = client.send("GET", path, expected=(404,))
        if status == 200 and path.endswith(str(id)):
            client.send("GET", path, fields={"If-None-Match": fields["ETag"]}, expected=(404,))

    def read_file(self, client, choice):
        if (id := self.some(choice)) is None:
            return
        status, _, data = client.send("GET", f"/downloads/{id}", expected=(404,))
        record = json.loads(data) if status == 200 else {}
        if record.get("state") != "completed":
            return
        if choice.random() < 0.5 and record["bytesTotal"] > 1:
            begin = choice.randrange(record["bytesTotal"] - 1)
            end = choice.randrange(begin, record["bytesTotal"])
            status, _, data = client.send("GET", f"/downloads/{id}/file", fields={"Range": f"bytes={begin}-{end}"}, expected=(404,))
            isRight = status != 206 or len(data) == end - begin + 1
        else:
            status, _, data = client.send("GET", f"/downloads/{id}/file", expected=(404,))
            isRight = status != 200 or hashlib.sha256(data).hexdigest() == record["sha256"]
        self.files += 1
        if not isRight:
            self.fail(f"the file of {id} is not what its record says")

    def remove(self, client, choice):
        while True:
            with self.lock:
                if len(self.known) <= KEPT:
                    return
                id = self.known.popleft()
            client.send("DELETE", f"/downloads/{id}?deleteFile=true", expected=(404,))

    def follow(self, number):
        """Reads events, some readers slowly, and comes back now and then with the last one it saw."""
        last, choice = None, random.Random(number)
        while not self.isOver.is_set():
            connection = http.client.HTTPConnection(*self.pawl.address, timeout=60)
            try:
                connection.request("GET", "/downloads/events", headers={"Last-Event-ID": last} if last else {})
                answer = connection.getresponse()
                if answer.status != 200:
                    return self.fail(f"/downloads/events: {answer.status}")
                end = time.monotonic() + choice.uniform(5, 60)
                while time.monotonic() < end and not self.isOver.is_set():
                    line = answer.readline()
                    if not line:
                        return self.fail("an event stream ended")
                    if line.startswith(b"id: "):
                        last = line[4:].strip().decode()
                        self.events += 1
                        if number == 0:
                            time.sleep(0.05)
            except (OSError, http.client.HTTPException) as error:
                self.fail(f"/downloads/events: {error!r}")
            finally:
                connection.close()

    def receive_messages(self):
        """Takes messages of webhooks, and now and then does not."""
        soak = self

        class Receiver(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                soak.messages += 1
                self.send_response(503 if soak.messages % 20 == 0 else 204)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    # What is looked at

    def sample(self):
        status = open(f"/proc/{self.pawl.child.pid}/status").read()
        read = lambda name: int(status.split(name + ":")[1].split()[0])
        return {"at": time.monotonic() - self.begun, "memory": read("RssAnon"), "threads": read("Threads"),
                "descriptors": len(os.listdir(f"/proc/{self.pawl.child.pid}/fd"))}

    def watch(self):
        self.begun = time.monotonic()
        told = 0.0
        while (now := time.monotonic() - self.begun) < self.seconds:
            if self.pawl.child.poll() is not None:
                return self.fail(f"the service has ended with status {self.pawl.child.returncode}")
            self.samples.append(self.sample())
            if now - told >= min(60, self.seconds / 5):
                told = now
                print("  {at:6.0f} s: {memory:7} KiB, {descriptors:4} descriptors, {threads:3} threads".format(**self.samples[-1]),
                      f"{sum(self.statuses.values())} answers", flush=True)
            time.sleep(min(2, self.seconds / 100))

    def settle(self):
        """Takes the load away, and looks at what is left: everything is removed, and connections are closed."""
        client = Client(self, "settle")
        while True:
            status, _, data = client.send("GET", "/downloads?limit=200")
            items = json.loads(data)["items"] if status == 200 else []
            if not items:
                break
            for item in items:
                client.send("DELETE", f"/downloads/{item['id']}?deleteFile=true")
        left = [name for place in ("files", "incomplete") for name in os.listdir(os.path.join(self.pawl.data, place))]
        if left:
            self.fail(f"{len(left)} files are left of downloads that were removed")
        end = time.monotonic() + 30
        least = self.sample()
        while time.monotonic() < end:
            now = self.sample()
            least = {name: min(least[name], now[name]) for name in now}
            time.sleep(1)
        return least

    def end(self):
        self.pawl.child.terminate()
        try:
            return self.pawl.child.wait(15)
        except Exception:
            return None

    # What is said of it

    def report(self, after, status, complaints):
        part = lambda begin, end: [s for s in self.samples if begin * self.seconds <= s["at"] < end * self.seconds] or self.samples
        middle = lambda samples, name: statistics.median(sample[name] for sample in samples)
        early, late = part(0.25, 0.5), part(0.75, 1)
        print(f"{self.seconds / 60:.0f} minutes: {sum(self.statuses.values())} answers, {self.events} events, {self.files} files read,"
              f" {self.messages} messages of webhooks")
        print("  statuses: " + ", ".join(f"{code}: {count}" for code, count in sorted(self.statuses.items())))
        for kind, latencies in sorted(self.latencies.items()):
            print(f"  {kind:10} {latencies.count:8} answers, p50 {latencies.quantile(0.5) * 1000:7.1f} ms,"
                  f" p99 {latencies.quantile(0.99) * 1000:7.1f} ms, worst {latencies.worst * 1000:7.0f} ms")
        for name, unit, margin in (("memory", "KiB", MEMORY_MARGIN), ("descriptors", "", DESCRIPTOR_MARGIN)):
            before, then = middle(early, name), middle(late, name)
            print(f"  {name:12} {before:.0f} {unit} in the second quarter, {then:.0f} in the last, {after[name]} with the load gone")
            if then > before + max(margin, before * 0.1):
                self.failures[f"{name} grew from {before:.0f} to {then:.0f}"] += 1
        if status != 0:
            self.failures[f"the service ended with status {status}"] += 1
        if complaints:
            self.failures["the service logged errors: " + complaints[:500]] += 1
        if bad := sum(count for code, count in self.statuses.items() if code >= 500):
            self.failures[f"{bad} answers were 5xx"] += 1
        for what, count in self.failures.most_common(20):
            print(f"FAILED {count} x {what}")
        print("the soak holds" if not self.failures else "the soak does not hold")
        return 1 if self.failures else 0
