"""Clients of many languages do the main job: each adds a download, follows it, fetches its file, and gets the bytes of its `sha256`."""
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.parse

from service import Service

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.environ["PAWL_PYTHON"]

# The command of each client, and whether it takes an address with unescaped characters.
CLIENTS = {
    **{name: (["bash", "client.sh"], True) for name in ("curl", "wget", "wget2", "busybox", "lynx", "w3m", "links", "nc", "bash")},
    **{name: ([PYTHON, "-B", "client.py"], True) for name in ("aiohttp", "httplib2", "httpx", "requests", "tornado", "urllib3")},
    **{name: ([PYTHON, "-B", "client.py"], False) for name in ("http.client", "urllib")},
    "httpie": (["bash", "client.sh"], True),
    "php-streams": (["php", "client.php"], True),
    "php-curl": (["php", "client.php"], True),
    "Net::HTTP": (["ruby", "client.rb"], True),
    "HTTP::Tiny": (["perl", "client.pl"], True),
    "LWP": (["perl", "client.pl"], True),
    "fetch": (["node", "client.mjs"], True),
    "node:http": (["node", "client.mjs"], True),
    "HttpURLConnection": (["java", "Client.java"], True),
    "java.net.http": (["java", "Client.java"], False),
    "net/http": (["go", "run", "client.go"], True),
    "LuaSocket": (["lua5.4", "client.lua"], True),
    "Tcl http": (["tclsh", "client.tcl"], False),
    "Guile": (["guile", "--no-auto-compile", "client.scm"], False),
    "http_open": (["swipl", "client.prolog"], False),
    "httpc": (["escript", "client.erl"], False),
    "gawk": (["gawk", "-b", "-f", "client.awk"], True),
    "Protocols.HTTP": (["pike", "client.pike"], True),
}


def run(service, upstream, directory, number, name):
    command, takes_text = CLIENTS[name]
    text = f"é\"{number}"
    # The transfer takes seconds, so that those that follow events need the last one in time.
    url = f"{upstream}/entity?size=300000&seed=client{number}"
    body = json.dumps({"url": url, "speedLimit": 100_000, "track": {"name": text}}, ensure_ascii=False)
    out = f"{directory}/{number}"
    done = subprocess.run(
        ["timeout", "60", *command, name, service.url.replace("127.0.0.1", "localhost"), body,
         text if takes_text else urllib.parse.quote(text), out],
        cwd=HERE, env=os.environ | {"LC_ALL": "C.UTF-8", "PATH": os.path.dirname(PYTHON) + ":" + os.environ["PATH"]}, capture_output=True, text=True)
    try:
        if done.returncode:
            return f"exit status {done.returncode}: {done.stdout[-700:]}{done.stderr[-700:]}"
        record, = service.downloads("&q=" + urllib.parse.quote(text))
        with open(out, "rb") as file:
            data = file.read()
        if hashlib.sha256(data).hexdigest() != record["sha256"]:
            return f"{len(data)} other bytes: {data[:300]!r}"
    except Exception as error:
        return repr(error)


def main():
    begun = time.monotonic()
    names = sys.argv[1:] or list(CLIENTS)
    service = Service()
    try:
        with tempfile.TemporaryDirectory() as directory, concurrent.futures.ThreadPoolExecutor(4) as pool:
            upstream = service.upstream
            results = pool.map(lambda item: run(service, upstream, directory, *item), enumerate(names))
            failures = [f"{name}: {failure}" for name, failure in zip(names, results) if failure]
    finally:
        service.close()
    assert not failures, "\n".join(failures)
    print(f"{len(names)} clients got their files ({time.monotonic() - begun:.0f} s)")


main()
