"""What downloading one file costs, in time, processor and memory."""

import hashlib
import json
import os
import socket
import time
import urllib.parse

import harness
from harness import Nginx, Pawl, ROUNDS, medians

PAWL = "pawl (hashed, synced, published)"
PIECE = 256 << 10


def transfer(executable, parent=None, place="disk"):
    """1 GiB over http: with its SHA-256 against others that make one too, and the bytes alone against a bare loop of reads."""
    with harness.Scratch(parent) as directory:
        digest = large_file(directory, 1 << 30)
        origin = harness.started(Nginx(directory))
        url = origin.base + "/large.bin"
        pawl = harness.started(Pawl(executable, directory))
        out = os.path.join(directory, "out.bin")
        aria2 = ["aria2c", "-q", "-x1", "-s1", "-d", directory, "-o", "out.bin"]
        checked = f"--checksum=sha-256={digest}"
        alone = Contest(directory, {
            "read loop": lambda: drained(url, out),
            "curl": lambda: harness.timed(["curl", "-s", "-o", out, url]),
            "wget2": lambda: harness.timed(["wget2", "-q", "-O", out, url]),
            "aria2c": lambda: harness.timed([*aria2, "--file-allocation=falloc", url]),
            "pawl, until the last byte is there": lambda: downloaded(pawl, url, transfer_only=True),
        })
        hashed = Contest(directory, {
            "curl, then sha256sum": lambda: harness.timed(["curl", "-s", "-o", out, url], ["sha256sum", out]),
            "curl, then openssl": lambda: harness.timed(["curl", "-s", "-o", out, url], ["openssl", "dgst", "-sha256", out]),
            "curl, then fdatasync": lambda: harness.timed(["curl", "-s", "-o", out, url], ["sync", "-d", out]),
            "wget2, then sha256sum": lambda: harness.timed(["wget2", "-q", "-O", out, url], ["sha256sum", out]),
            "aria2c --checksum, falloc": lambda: harness.timed([*aria2, checked, "--file-allocation=falloc", url]),
            "aria2c --checksum, none": lambda: harness.timed([*aria2, checked, "--file-allocation=none", url]),
            PAWL: lambda: downloaded(pawl, url, digest=digest),
        })
        print(f"transfer: 1 GiB on {place}, one connection to nginx, medians of {ROUNDS} rounds")
        hashed.run().show(PAWL, "wanted: at most 0.6 x wall and 0.65 x CPU of curl and openssl, the wall of curl and fdatasync on disk")
        alone.run().show("pawl, until the last byte is there", "wanted: wall at most 1.25 x the read loop's")


def transfer_tls(executable, parent=None, place="disk"):
    """1 GiB over https, with its SHA-256."""
    with harness.Scratch(parent) as directory:
        digest = large_file(directory, 1 << 30)
        certificate, key = harness.certificate(directory)
        origin = harness.started(Nginx(directory, certificate=(certificate, key)))
        url = origin.base + "/large.bin"
        pawl = harness.started(Pawl(executable, directory, "--ca-file", certificate))
        out = os.path.join(directory, "out.bin")
        contest = Contest(directory, {
            "curl, then sha256sum": lambda: harness.timed(["curl", "-s", "--cacert", certificate, "-o", out, url], ["sha256sum", out]),
            PAWL: lambda: downloaded(pawl, url, digest=digest),
            "pawl, 4 connections": lambda: downloaded(pawl, url, digest=digest, segments=4),
        })
        print(f"https: 1 GiB on {place}, one connection to nginx, medians of {ROUNDS} rounds")
        contest.run().show(PAWL, "wanted: wall and CPU at most curl's and sha256sum's")


class Contest:
    """Contestants that take turns; what each has written is removed and synced before the next."""

    def __init__(self, directory, contestants):
        self.out = os.path.join(directory, "out.bin")
        self.contestants = contestants
        self.results = {name: [] for name in contestants}

    def run(self):
        for turn in range(ROUNDS + 1):
            for name, measure in self.contestants.items():
                if os.path.exists(self.out):
                    os.remove(self.out)
                os.sync()
                pair = measure()
                if turn:  # the first round faults fresh memory in
                    self.results[name].append(pair)
        return self

    def show(self, own, wanted):
        print(f"  {wanted}")
        best = {name: medians(pairs) for name, pairs in self.results.items()}
        wall, cpu = best[own]
        for name, (seconds, spent) in best.items():
            compared = "" if name == own else f"   pawl is {wall / seconds:.2f} x wall, {cpu / spent:.2f} x CPU"
            print(f"    {name:36} {seconds:5.2f} s wall {spent:5.2f} s CPU{compared}", flush=True)


def downloaded(pawl, url, digest=None, segments=1, transfer_only=False):
    """Wall and processor seconds of a download, which is removed afterwards."""
    before, start = pawl.cpu(), time.monotonic()
    made = pawl.post("/downloads", {"url": url, "onDuplicate": "new", "segments": segments})
    if transfer_only:
        # Asking is work, too, on the processors that the transfer needs: seldom, until the end is near.
        while (progress := json.loads(pawl.get("/downloads/" + made["id"]))["progress"] or 0) < 1:
            passed = time.monotonic() - start
            time.sleep(min(0.1, max(0.002, passed * (1 - progress) / max(progress, 0.01) / 2)))
        pair = (time.monotonic() - start, pawl.cpu() - before)
    done = pawl.wait_for(made["id"], "completed", "failed")
    if not transfer_only:
        pair = (time.monotonic() - start, pawl.cpu() - before)
    if done["state"] != "completed" or digest not in (None, done["sha256"]):
        raise SystemExit(f"the download failed: {done}")
    pawl.delete(f"/downloads/{made['id']}?deleteFile=true")
    return pair


def drained(url, out):
    """Wall and processor seconds of reading a body into a preallocated file and doing nothing else."""
    parts = urllib.parse.urlsplit(url)
    cpu, start = time.process_time(), time.monotonic()
    buffer = bytearray(PIECE)
    view = memoryview(buffer)
    with socket.create_connection((parts.hostname, parts.port)) as client:
        client.sendall(f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n".encode())
        got = client.recv(4096)
        head, _, rest = got.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length:")[1].split()[0])
        file = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.posix_fallocate(file, 0, length)
        at = os.pwrite(file, rest, 0)
        while at < length:
            at += os.pwrite(file, view[:client.recv_into(buffer)], at)
        os.close(file)
    return time.monotonic() - start, time.process_time() - cpu


def large_file(directory, size, name="large.bin"):
    """Makes a file of random bytes; returns its SHA-256."""
    digest = hashlib.sha256()
    with open(os.path.join(directory, name), "wb") as file:
        for _ in range(size >> 20):
            piece = os.urandom(1 << 20)
            digest.update(piece)
            file.write(piece)
    return digest.hexdigest()


def segments(executable):
    """A large file from an origin that paces each connection: what more connections bring."""
    size, pace = 256 << 20, 8
    with harness.Scratch("/dev/shm") as directory:
        digest = large_file(directory, size, "paced.bin")
        origin = harness.started(Nginx(directory, paced=f"{pace}m"))
        pawl = harness.started(Pawl(executable, directory))
        url = origin.base + "/slow/paced.bin"
        results = {1: [], 4: [], "aria2c": []}
        for _ in range(min(ROUNDS, 2)):
            for connections in (1, 4):
                results[connections].append(downloaded(pawl, url, digest, connections))
            results["aria2c"].append(harness.timed(
                ["aria2c", "-q", "-x4", "-s4", "-k1M", "--allow-overwrite=true", "-d", directory, "-o", "out.bin", url]))
        one, four, peer = (medians(results[key]) for key in (1, 4, "aria2c"))
        print(f"segments: 256 MiB at {pace} MiB/s per connection, medians of {min(ROUNDS, 2)} rounds (wanted: 3.5 x as fast)")
        print(f"  pawl, 1 connection          {one[0]:6.2f} s wall {one[1]:5.2f} s CPU")
        print(f"  pawl, 4 connections         {four[0]:6.2f} s wall {four[1]:5.2f} s CPU   {one[0] / four[0]:.2f} x as fast")
        print(f"  aria2c -x4 -s4              {peer[0]:6.2f} s wall {peer[1]:5.2f} s CPU   {one[0] / peer[0]:.2f} x as fast")


def memory(executable):
    """What a very large file costs in memory while it comes. BENCH_SPARSE_GIB (20) says how large."""
    size = int(os.environ.get("BENCH_SPARSE_GIB", "20")) << 30
    with harness.Scratch() as directory:
        with open(os.path.join(directory, "sparse.bin"), "wb") as file:
            file.truncate(size)
        with open(os.path.join(directory, "small.bin"), "wb") as file:
            file.truncate(32 << 20)
        origin = harness.started(Nginx(directory))
        pawl = harness.started(Pawl(executable, directory))
        # What any large download needs (threads, buffers) is there before the growth is measured.
        downloaded(pawl, origin.base + "/small.bin", segments=4)
        idle, idle_own = pawl.resident()
        with socket.create_connection(pawl.address) as unread:
            unread.sendall(b"GET /downloads/events?interval=50 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            made = pawl.post("/downloads", {"url": origin.base + "/sparse.bin"})["id"]
            most, most_own, begun = 0, 0, time.monotonic()
            while (state := json.loads(pawl.get("/downloads/" + made))["state"]) != "completed":
                if state == "failed":
                    raise SystemExit("the download failed")
                resident, own = pawl.resident()
                most, most_own = max(most, resident), max(most_own, own)
                time.sleep(0.1)
            took = time.monotonic() - begun
        print(f"memory: a sparse file of {size >> 30} GiB, with an unread event stream (wanted: grows by 16 MiB at most)")
        print(f"  {idle:.1f} MiB resident ({idle_own:.1f} anonymous) after a download of 32 MiB; at most {most:.1f} ({most_own:.1f})"
              f" while the large one came, in {took:.0f} s: {most - idle:+.1f} MiB")
