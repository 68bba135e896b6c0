"""What downloading costs, in time, processor and memory."""

import json
import os
import subprocess

import harness
from harness import Nginx, Pawl, ROUNDS, medians


def transfer(executable):
    size = 1 << 30
    for place, parent in (("disk", None), ("tmpfs", "/dev/shm")):
        directory = harness.scratch(parent)
        source = os.path.join(directory, "large.bin")
        with open(source, "wb") as file:
            for _ in range(size >> 20):
                file.write(os.urandom(1 << 20))
        origin = Nginx(directory)
        url = origin.base + "/large.bin"
        pawl = Pawl(executable, directory)
        target = os.path.join(directory, "out.bin")
        results = {"curl": [], "curl, then sha256sum": [], "aria2c": [], "pawl (hashed, synced, published)": []}

        def clean():
            if os.path.exists(target):
                os.remove(target)
            os.sync()

        try:
            for turn in range(ROUNDS + 1):
                rounds = {}
                clean()
                rounds["curl"] = harness.timed(["curl", "-s", "-o", target, url])
                hashing = harness.timed(["sha256sum", target])
                rounds["curl, then sha256sum"] = tuple(a + b for a, b in zip(rounds["curl"], hashing))
                clean()
                rounds["aria2c"] = harness.timed(["aria2c", "-q", "-x1", "-s1", "-d", directory, "-o", "out.bin", url])
                clean()
                before = pawl.cpu()
                start = harness.time.monotonic()
                made = pawl.post("/downloads", {"url": url, "onDuplicate": "new", "segments": 1})
                done = pawl.wait_for(made["id"], "completed", "failed")
                rounds["pawl (hashed, synced, published)"] = (harness.time.monotonic() - start, pawl.cpu() - before)
                if done["state"] != "completed":
                    raise SystemExit(f"the download failed: {done['error']}")
                subprocess.run(["curl", "-s", "-X", "DELETE", f"{pawl.base}/downloads/{made['id']}?deleteFile=true"],
                               check=True)
                if turn:  # the first round faults fresh memory in
                    for name, pair in rounds.items():
                        results[name].append(pair)
            print(f"transfer: 1 GiB on {place}, one connection to nginx, medians of {ROUNDS} rounds")
            best = {name: medians(pairs) for name, pairs in results.items()}
            wall, cpu = best["pawl (hashed, synced, published)"]
            for name, (seconds, spent) in best.items():
                print(f"  {name:34} {seconds:5.2f} s wall {spent:5.2f} s CPU   pawl is {wall / seconds:.2f} x wall,"
                      f" {cpu / spent:.2f} x CPU")
        finally:
            pawl.stop()
            origin.stop()
            harness.discard(directory)


def segments(executable):
    """A large file from an origin that paces each connection: what more connections bring."""
    size, pace = 256 << 20, 8
    directory = harness.scratch("/dev/shm")
    with open(os.path.join(directory, "paced.bin"), "wb") as file:
        for _ in range(size >> 20):
            file.write(os.urandom(1 << 20))
    origin = Nginx(directory, paced=f"{pace}m")
    pawl = Pawl(executable, directory)
    url = origin.base + "/slow/paced.bin"
    results = {1: [], 4: [], "aria2c": []}
    try:
        for _ in range(min(ROUNDS, 3)):
            for connections in (1, 4):
                before = pawl.cpu()
                start = harness.time.monotonic()
                made = pawl.post("/downloads", {"url": url, "onDuplicate": "new", "segments": connections})
                done = pawl.wait_for(made["id"], "completed", "failed")
                if done["state"] != "completed":
                    raise SystemExit(f"the download failed: {done['error']}")
                results[connections].append((harness.time.monotonic() - start, pawl.cpu() - before))
                subprocess.run(["curl", "-s", "-X", "DELETE", f"{pawl.base}/downloads/{made['id']}?deleteFile=true"],
                               check=True)
            results["aria2c"].append(harness.timed(
                ["aria2c", "-q", "-x4", "-s4", "-k1M", "--allow-overwrite=true", "-d", directory, "-o", "out.bin", url]))
        one, four, peer = (medians(results[key]) for key in (1, 4, "aria2c"))
        print(f"segments: 256 MiB at {pace} MiB/s per connection, medians of {min(ROUNDS, 3)} rounds")
        print(f"  pawl, 1 connection          {one[0]:6.2f} s wall {one[1]:5.2f} s CPU")
        print(f"  pawl, 4 connections         {four[0]:6.2f} s wall {four[1]:5.2f} s CPU   {one[0] / four[0]:.2f} x as fast")
        print(f"  aria2c -x4 -s4              {peer[0]:6.2f} s wall {peer[1]:5.2f} s CPU   {one[0] / peer[0]:.2f} x as fast")
    finally:
        pawl.stop()
        origin.stop()
        harness.discard(directory)


def memory(executable):
    directory = harness.scratch()
    open(os.path.join(directory, "paced.bin"), "wb").write(os.urandom(4 << 20))
    with open(os.path.join(directory, "sparse.bin"), "wb") as file:
        file.truncate(4 << 30)
    origin = Nginx(directory, paced="16k")
    pawl = Pawl(executable, directory, "--max-concurrent", "200", "--max-per-host", "200")
    try:
        pawl.get("/healthz")
        idle, idle_own = pawl.resident()
        unread = harness.socket.create_connection(("127.0.0.1", int(pawl.base.rsplit(":", 1)[1])))
        unread.sendall(b"GET /downloads/events?interval=50 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        made = pawl.post("/downloads", {"url": origin.base + "/sparse.bin"})
        pawl.wait_for(made["id"], "completed")
        large, large_own = pawl.resident()
        for number in range(200):
            pawl.post("/downloads", {"url": f"{origin.base}/slow/paced.bin?{number}"})
        while pawl_state(pawl)["downloading"] < 200:
            pass
        before = pawl.cpu()
        harness.time.sleep(5)
        busy, busy_own = pawl.resident()
        share = (pawl.cpu() - before) / 5
        print("memory: resident MiB (of it anonymous)")
        print(f"  idle                        {idle:6.1f} ({idle_own:.1f})")
        print(f"  after a download of 4 GiB    {large:6.1f} ({large_own:.1f}), with an event stream that nobody reads")
        print(f"  200 transfers at 16 KiB/s   {busy:6.1f} ({busy_own:.1f}), {share * 100:.0f} % of one core")
    finally:
        pawl.stop()
        origin.stop()
        harness.discard(directory)


def pawl_state(pawl):
    return json.loads(pawl.get("/stats"))["downloads"]
