"""What the benchmarks share: peers to install, processes to watch, numbers to print."""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time
import typing
import urllib.request

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "5"))
SECONDS = int(os.environ.get("BENCH_SECONDS", "2"))
ROOT = pathlib.Path(__file__).resolve().parent.parent
TICKS = os.sysconf("SC_CLK_TCK")


def install(*packages):
    """Installs Debian packages that are not there yet."""
    missing = [name for name in packages
               if subprocess.run(["dpkg", "-s", name], capture_output=True).returncode]
    if missing:
        subprocess.run(["apt-get", "update"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", *missing],
                       check=True, stdout=subprocess.DEVNULL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def build():
    """Builds the release executable and returns its path."""
    subprocess.run(["swift", "build", "-c", "release", "--product", "pawl"], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL)
    where = subprocess.run(["swift", "build", "-c", "release", "--show-bin-path"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.strip()
    return os.path.join(where, "pawl")


def build_driver(product):
    """Builds an executable of the benchmarks, which may use what tests may see; returns its path."""
    command = ["swift", "build", "-c", "release", "--scratch-path", str(ROOT / ".build/benchmarks")]
    environment = {**os.environ, "PAWL_BENCHMARKS": "1"}
    subprocess.run([*command, "--product", product, "-Xswiftc", "-enable-testing"], cwd=ROOT, check=True, env=environment,
                   stdout=subprocess.DEVNULL)
    where = subprocess.run([*command, "--show-bin-path"], cwd=ROOT, check=True, capture_output=True, text=True,
                           env=environment).stdout.strip()
    return os.path.join(where, product)


class Process:
    """A server under measurement; `cpu` and `resident` cover its children too."""

    def __init__(self, arguments, **options):
        self.child = subprocess.Popen(arguments, **options)

    @property
    def pids(self):
        listing = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.child.pid)],
                                 capture_output=True, text=True).stdout.split()
        return [self.child.pid, *map(int, listing)]

    def cpu(self):
        """Seconds of processor time so far."""
        total = 0
        for pid in self.pids:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
        return total / TICKS

    def resident(self):
        """MiB of resident memory, and the part of it that no file backs."""
        status = pathlib.Path(f"/proc/{self.child.pid}/status").read_text()
        read = lambda name: int(status.split(name + ":")[1].split()[0]) / 1024
        return read("VmRSS"), read("RssAnon")

    def stop(self):
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.wait(15)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()


class Pawl(Process):
    """The service on a free port and a directory of its own."""

    def __init__(self, executable, directory, *flags, prefix=(), environment=None):
        super().__init__([executable, *prefix, "serve", "--port", "0", "--data-dir", os.path.join(directory, "data"),
                          "--allow-destination", "127.0.0.1", "--log-level", "error", *flags],
                         stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
        line = self.child.stdout.readline()
        if not line.startswith("listening on "):
            raise SystemExit("pawl did not start: " + line)
        self.base = line.split()[-1]
        self.address = ("127.0.0.1", int(self.base.rsplit(":", 1)[1]))

    def get(self, path):
        with urllib.request.urlopen(self.base + path, timeout=30) as answer:
            return answer.read()

    def post(self, path, value=None):
        request = urllib.request.Request(self.base + path, method="POST",
                                         data=json.dumps(value or {}).encode(),
                                         headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def delete(self, path):
        with urllib.request.urlopen(urllib.request.Request(self.base + path, method="DELETE"), timeout=30):
            pass

    def wait_for(self, identity, *states):
        """Follows the download's own events until it is in one of the states."""
        request = urllib.request.urlopen(f"{self.base}/downloads/{identity}/events", timeout=600)
        kind = None
        for line in request:
            if line.startswith(b"event: "):
                kind = line[7:].strip()
            elif line.startswith(b"data: ") and kind in (b"snapshot", b"download"):
                value = json.loads(line[6:])
                value = value[0] if isinstance(value, list) else value
                if value["state"] in states:
                    request.close()
                    return value
        raise SystemExit("the event stream ended early")


class Nginx(Process):
    """One nginx worker that serves `directory`, with fixed answers under `answers` (path → body), over TLS if it is given the
    paths of a certificate and its key."""

    def __init__(self, directory, answers=None, paced="", certificate=None):
        self.port = free_port()
        locations = "".join(
            f"location = {path} {{ default_type application/json; return 200 {json.dumps(body)}; }}\n"
            for path, body in (answers or {}).items())
        secure = f"ssl_certificate {certificate[0]}; ssl_certificate_key {certificate[1]};" if certificate else ""
        configuration = os.path.join(directory, "nginx.conf")
        pathlib.Path(configuration).write_text(f"""
            daemon off; worker_processes 1; pid {directory}/nginx.pid; error_log /dev/null;
            worker_rlimit_nofile 20000; user root;
            events {{ worker_connections 10000; }}
            http {{
                access_log off; sendfile on; tcp_nodelay on; keepalive_requests 100000000; etag on;
                client_body_temp_path {directory}/body; proxy_temp_path {directory}/proxy;
                fastcgi_temp_path {directory}/fastcgi; uwsgi_temp_path {directory}/uwsgi; scgi_temp_path {directory}/scgi;
                server {{
                    listen 127.0.0.1:{self.port}{" ssl" if certificate else ""}; root {directory}; {secure}
                    {locations}
                    location /slow/ {{ alias {directory}/; limit_rate {paced or 0}; }}
                }}
            }}""")
        super().__init__(["nginx", "-c", configuration], stderr=subprocess.DEVNULL)
        self.base = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}"
        wait_for_port(self.port)


class Node(Process):
    """A server of Node's own http module with one fixed answer."""

    def __init__(self, directory, body):
        port = free_port()
        program = f"""
            const body = {json.dumps(body)};
            require('http').createServer((request, response) => {{
                response.writeHead(200, {{'Content-Type': 'application/json', 'Content-Length': body.length}});
                response.end(body);
            }}).listen({port}, '127.0.0.1');
            """
        super().__init__(["node", "-e", program], stderr=subprocess.DEVNULL)
        self.base = f"http://127.0.0.1:{port}"
        wait_for_port(port)


class Aria2(Process):
    """aria2's RPC server with one finished download; `script` has wrk ask for its status."""

    def __init__(self, directory, url):
        port = free_port()
        super().__init__(["aria2c", "--enable-rpc", f"--rpc-listen-port={port}", "--quiet", "--no-conf",
                          "-d", subdirectory(directory, "aria2")],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.base = f"http://127.0.0.1:{port}"
        wait_for_port(port)
        identity = self.call("aria2.addUri", [url])
        while self.call("aria2.tellStatus", identity)["status"] != "complete":
            time.sleep(0.05)
        self.script = os.path.join(directory, "aria2.lua")
        pathlib.Path(self.script).write_text(f"""
            wrk.method = "POST"
            wrk.headers["Content-Type"] = "application/json"
            wrk.body = {json.dumps(self.request("aria2.tellStatus", identity))!r}
            """)

    def request(self, method, *arguments):
        return {"jsonrpc": "2.0", "id": "1", "method": method, "params": list(arguments)}

    def call(self, method, *arguments):
        body = json.dumps(self.request(method, *arguments)).encode()
        with urllib.request.urlopen(self.base + "/jsonrpc", body, timeout=30) as answer:
            return json.load(answer)["result"]


def wait_for_port(port):
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


class Sample(typing.NamedTuple):
    """Requests per second, processor microseconds of the server per request, and milliseconds that 99 of 100 took at most."""
    rate: float
    cost: float
    p99: float


def wrk(url, server, script=None, flags=(), connections=64):
    """One round of wrk with one thread."""
    before = server.cpu()
    report = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{SECONDS}s", "--latency", *flags,
                             *(["-s", script] if script else []), url],
                            capture_output=True, text=True, check=True).stdout
    spent = server.cpu() - before
    if "Non-2xx" in report:
        raise SystemExit(f"wrk met errors at {url}:\n{report}")
    rate = float(report.split("Requests/sec:")[1].split()[0])
    total = int(report.split(" requests in ")[0].split()[-1])
    return Sample(rate, spent / max(total, 1) * 1e6, milliseconds(re.search(r"^\s+99%\s+(\S+)", report, re.M)[1]))


def milliseconds(text):
    for unit, factor in (("us", 1e-3), ("ms", 1), ("s", 1e3)):
        if text.endswith(unit):
            return float(text[:-len(unit)]) * factor
    raise ValueError(text)


def interleaved(contestants):
    """One round of each in turn, as often as there are rounds; one more before, which doesn't count."""
    results = {name: [] for name in contestants}
    for turn in range(ROUNDS + 1):
        for name, measure in contestants.items():
            sample = measure()
            if turn:
                results[name].append(sample)
    return results


def print_rates(title, results, note):
    print(f"{title} ({note})")
    best = {name: Sample(*medians(rounds)) for name, rounds in results.items()}
    own = best["pawl"]
    for name, peer in best.items():
        line = f"  {name:6} {peer.rate:9,.0f}/s {peer.cost:6.1f} us CPU   p99 {peer.p99:6.2f} ms"
        if name != "pawl":
            line += (f"   pawl is {own.rate / peer.rate:.2f} x requests, {own.cost / max(peer.cost, 0.01):.2f} x CPU,"
                     f" {own.p99 / peer.p99:.2f} x p99")
        print(line, flush=True)


def timed(*commands):
    """Wall and processor seconds of commands, one after another."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    for arguments in commands:
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(rounds):
    """The median of each position over all rounds."""
    return [statistics.median(column) for column in zip(*rounds)]


class Scratch:
    """A directory, and the servers that were started in it; all gone at the end."""

    def __init__(self, parent=None):
        self.parent = parent

    def __enter__(self):
        self.directory = scratch(self.parent)
        return self.directory

    def __exit__(self, *_):
        while RUNNING:
            RUNNING.pop().stop()
        discard(self.directory)


RUNNING = []


def started(server):
    """Notes a server to be stopped at the end of the scratch directory."""
    RUNNING.append(server)
    return server


def certificate(directory):
    """A new certificate for 127.0.0.1 and its key, as paths of PEM files."""
    paths = os.path.join(directory, "certificate.pem"), os.path.join(directory, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-out", paths[0], "-keyout", paths[1]],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return paths


def subdirectory(directory, name):
    path = os.path.join(directory, name)
    os.makedirs(path, exist_ok=True)
    return path


def scratch(under=None):
    return tempfile.mkdtemp(prefix="pawl-bench-", dir=under)


def discard(directory):
    shutil.rmtree(directory, ignore_errors=True)
