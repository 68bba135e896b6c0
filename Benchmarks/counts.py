"""Instructions and heap allocations of the server's user space for one request, counted by callgrind.

These do not depend on the machine's speed or on other processes: the same executable gives the same figures within a percent or two.
One connection, one request at a time, after a few hundred that warm caches and storage; work of other threads
counts as well. `Benchmarks/counts.md` keeps the table, and what it says is what a request may cost: a figure that is more than a
tenth above it fails.
"""

import collections
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess

import harness
import http_requests

REQUESTS = 1000
# By how much a figure may be above the table's.
TOLERANCE = 1.1
ALLOCATORS = {"malloc", "calloc", "realloc", "posix_memalign", "memalign", "aligned_alloc"}

# Valgrind up to 3.19 writes to the mask that libdispatch keeps in memory that can only be read, and has no openat2, without which files
# would be opened by another thread than usual.
PRELOAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>
int sigsuspend(const sigset_t *mask) { (void)mask; for (;;) pause(); }
long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_openat2) return openat((int)a[0], (const char *)a[1], (int)((struct open_how *)a[2])->flags);
    static long (*next)(long, ...);
    if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
"""


def instructions(executable):
    with harness.Scratch() as directory:
        plain = os.path.join(directory, "pawl")
        # Valgrind up to 3.19 cannot read this compiler's debugging information; names come from the symbol table.
        subprocess.run(["strip", "-g", "-o", plain, executable], check=True)
        preload = os.path.join(directory, "preload.so")
        subprocess.run(["gcc", "-shared", "-fPIC", "-x", "c", "-o", preload, "-"], input=PRELOAD, text=True, check=True)
        print(f"per request, over {REQUESTS} requests on one connection")
        print("  | request | answer, bytes | instructions | allocations |")
        print("  | --- | ---: | ---: | ---: |")
        allowed, excesses = table(), []
        for name, path in (("GET /healthz", "/healthz"), ("GET /stats", "/stats"),
                           ("GET /downloads/{id}", "/downloads/{id}"),
                           ("GET /downloads/{id}, 304", "/downloads/{id} 304"),
                           ("GET /downloads/{id}/file, 16 KiB", "/downloads/{id}/file"),
                           ("GET /downloads?limit=100", "/downloads?limit=100"),
                           ("POST /downloads", "POST /downloads")):
            excesses += report(
                name, *count(plain, preload, harness.subdirectory(directory, str(abs(hash(name)))), path), allowed.get(name))
    if excesses:
        raise SystemExit("more than Benchmarks/counts.md allows:\n" + "\n".join(excesses))


def table():
    """Instructions and allocations of each request, as Benchmarks/counts.md has them."""
    rows = re.findall(r"^\| ((?:GET|POST) .*?) \| [\d,]+ \| ([\d,]+) \| ([\d.]+) \|$",
                      pathlib.Path(__file__).with_name("counts.md").read_text(), re.M)
    return {name: (int(instructions.replace(",", "")), float(allocations)) for name, instructions, allocations in rows}


def report(name, size, profile, count, allowed):
    """Prints what a request costs; returns what of that is too much."""
    total, allocations, own = read(profile)
    print(f"  | {name} | {size:,} | {total / count:,.0f} | {allocations / count:.1f} |", flush=True)
    if os.environ.get("BENCH_PROFILE"):
        for function, spent in own.most_common(int(os.environ["BENCH_PROFILE"])):
            print(f"      {spent / count:9,.0f}  {demangled(function)[:120]}")
    if allowed is None:
        return [f"{name} is not in the table"]
    found = {"instructions": total / count, "allocations": allocations / count}
    # A few allocations for the whole run belong to no request.
    limits = {"instructions": allowed[0] * TOLERANCE, "allocations": allowed[1] * TOLERANCE + 0.5}
    return [f"{name}: {found[what]:,.1f} {what}, at most {limits[what]:,.1f}" for what in found if found[what] > limits[what]]


def count(executable, preload, directory, what):
    """Runs the service under callgrind; returns the size of the answer, the profile's path and the number of requests."""
    requests = REQUESTS // 10 if "limit" in what else REQUESTS
    profile = os.path.join(directory, "callgrind.out")
    os.makedirs(os.path.join(directory, "origin"), exist_ok=True)
    pawl = harness.started(harness.Pawl(
        "valgrind", directory, prefix=["--tool=callgrind", "-q", f"--callgrind-out-file={profile}", executable],
        environment={"LD_PRELOAD": preload}))
    if "file" in what:
        origin = harness.started(harness.Nginx(harness.subdirectory(directory, "origin")))
        identity = http_requests.finished(pawl, origin, directory, 16384)
    else:
        for number in range(100 if "limit" in what else 1):
            identity = pawl.post("/downloads", {"url": f"http://127.0.0.1:9/recordings/field-{number}.bin", "paused": True})["id"]
    client = Client(pawl.address, what, identity)
    for _ in range(200 if requests == REQUESTS else 20):
        size = client.ask()
    control = lambda option: subprocess.run(["callgrind_control", option, str(pawl.child.pid)], check=True,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    control("-z")
    for _ in range(requests):
        client.ask()
    control("-d")
    pawl.stop()
    return size, profile + ".1", requests


class Client:
    """One connection that asks the same again and again."""

    def __init__(self, address, what, identity):
        self.socket = socket.create_connection(address)
        self.number = 0
        self.is_post = what.startswith("POST ")
        path = what.removeprefix("POST ").replace("{id}", identity)
        self.condition = ""
        if path.endswith(" 304"):
            path = path.removesuffix(" 304")
            connection = http.client.HTTPConnection(*address)
            connection.request("GET", path)
            self.condition = f"If-None-Match: {connection.getresponse().headers['ETag']}\r\n"
        self.path = path

    def ask(self):
        body = ""
        if self.is_post:
            self.number += 1
            body = f'{{"url":"http://127.0.0.1:9/posted/{self.number}.bin","paused":true}}'
            fields = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        else:
            fields = self.condition
        method = "POST" if self.is_post else "GET"
        self.socket.sendall(f"{method} {self.path} HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n{fields}\r\n{body}".encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.socket.recv(1 << 20)
        head, rest = answer.split(b"\r\n\r\n", 1)
        length = re.search(rb"Content-Length: (\d+)", head)
        length = int(length.group(1)) if length else 0
        while len(rest) < length:
            rest += self.socket.recv(1 << 20)
        return length


def read(path):
    """Instructions and allocations of a profile in all, and instructions of each function without its callees."""
    names, own, allocations = {}, collections.Counter(), 0
    function = called = None
    is_call = False
    for line in open(path):
        if match := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?", line):
            if match[3]:
                names[match[2]] = match[3]
            if match[1]:
                called = match[2]
            else:
                function = match[2]
        elif line.startswith("calls="):
            is_call = True
            # An allocation that is made to grow another inside of the allocator isn't another one.
            if names.get(called) in ALLOCATORS and names.get(function) not in ALLOCATORS:
                allocations += int(line[6:].split()[0])
        elif re.match(r"[+\-*\d]", line):
            if is_call:
                is_call = False
            elif len(parts := line.split()) >= 2:
                own[function] += int(parts[1])
    return sum(own.values()), allocations, collections.Counter({names[key]: spent for key, spent in own.items()})


def demangled(name):
    return subprocess.run(["swift", "demangle", "--simplified", "--compact", name], capture_output=True, text=True).stdout.strip()
