"""Podcast programs fetch the episodes of a served feed, with its key: each as a file of its own, with its extension."""
import hashlib
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from xml.sax.saxutils import escape

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Support"))
from service import Service, wait  # noqa: E402

TOKEN = "a-token-of-the-test"
NAMES = ["one.mp3", "zwei & drei (2).mp3", "höre_4, 100 %.mp3"]
FILES = {name: (name.encode() + b"\n") * 5000 for name in NAMES}
ENVIRONMENT = os.environ["PAWL_READERS"] + "-1/bin/"


class Origin(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        name = urllib.parse.unquote(self.path[1:])
        body = FILES.get(name) or feed(self.headers["Host"]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "audio/mpeg" if name in FILES else "application/rss+xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def feed(host):
    items = "".join(
        f"<item><title>{escape(name)}</title><guid isPermaLink='false'>{number}</guid><pubDate>Mon, 0{number + 1} Jun 2026 08:00:00 GMT</pubDate>"
        f"<enclosure url='http://{host}/{urllib.parse.quote(name)}' length='{len(FILES[name])}' type='audio/mpeg'/></item>"
        for number, name in enumerate(NAMES))
    return f"<?xml version='1.0'?><rss version='2.0'><channel><title>Show</title>{items}</channel></rss>"


def run(*command, home, limit=60, **variables):
    result = subprocess.run(command, env={**os.environ, "HOME": home, **variables}, cwd=home, capture_output=True, text=True, timeout=limit,
                            stdin=subprocess.DEVNULL)
    return result.stdout + result.stderr


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def podget(home, address):
    write(f"{home}/c/list", f"{address} Category Show\n")
    # It accepts only a file that it has made.
    told = run("podget", "-d", f"{home}/c", "--create-config", "podgetrc", home=home)
    with open(f"{home}/c/podgetrc", "a") as file:
        file.write(f"DIR_LIBRARY={home}/files\nCONFIG_SERVERLIST=list\n")
    return told + run("podget", "-d", f"{home}/c", "-n", "-v", home=home)


def podboat(home, address):
    write(f"{home}/.newsboat/urls", address + "\n")
    write(f"{home}/.newsboat/config", f'download-path "{home}/files/"\npodcast-auto-enqueue yes\nmax-downloads 3\n')
    os.makedirs(f"{home}/files")
    told = run("newsboat", "-x", "reload", home=home)
    # podboat has a terminal's interface, and stays after the last file.
    child = subprocess.Popen(["script", "-qfc", "podboat -a", "/dev/null"], env={**os.environ, "HOME": home, "TERM": "xterm"}, cwd=home,
                             stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        wait(lambda: len(found(home)) >= len(FILES) and not any(name.endswith(".part") for name in found(home)), "three files", 30)
    except AssertionError as error:
        told += str(error)
    finally:
        child.terminate()
        child.wait()
    return told


def gpodder(home, address):
    variables = {"GPODDER_HOME": home, "GPODDER_DOWNLOAD_DIR": f"{home}/files"}
    return "".join(run("gpo", *words, home=home, **variables) for words in (("subscribe", address, "Show"), ("download",)))


def greg(home, address):
    write(f"{home}/greg.conf", f"[DEFAULT]\nDownload directory = {home}/files\nfirstsync = 10\n")
    words = [ENVIRONMENT + "greg", "-cf", f"{home}/greg.conf", "-dtd", f"{home}/data"]
    return run(*words, "add", "show", address, home=home) + run(*words, "sync", home=home)


def poca(home, address):
    write(f"{home}/c/poca.xml", f"<poca version='1.1'><settings><base_dir>{home}/files</base_dir></settings><subscriptions><subscription>"
          f"<title>Show</title><url>{escape(address)}</url></subscription></subscriptions></poca>")
    return run(ENVIRONMENT + "poca", "-c", f"{home}/c", "-v", home=home)


def wget(home, address):
    return "".join(run("wget", "-nv", "--no-proxy", "-P", f"{home}/files", url, home=home) for url in enclosures(address))


def curl(home, address):
    os.makedirs(f"{home}/files")
    return "".join(run("curl", "-sS", "--noproxy", "*", "-O", "--output-dir", f"{home}/files", url, home=home) for url in enclosures(address))


def enclosures(address):
    with urllib.request.urlopen(address, timeout=30) as response:
        import xml.etree.ElementTree

        return [each.get("url") for each in xml.etree.ElementTree.fromstring(response.read()).iter("enclosure")]


def found(home):
    """The files that a program has saved, and their digests."""
    files = {}
    for directory, _, names in os.walk(f"{home}/files"):
        for name in names:
            with open(os.path.join(directory, name), "rb") as file:
                files[name] = hashlib.sha256(file.read()).hexdigest()
    return files


def main():
    begun = time.monotonic()
    origin = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    service = Service("--allow-private", token=TOKEN)
    root = tempfile.mkdtemp(prefix="pawl-readers-")

    def call(method, path, body=None):
        request = urllib.request.Request(service.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                         headers={"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.loads(response.read())

    failures = []
    try:
        made = call("POST", "/subscriptions", {"feedUrl": f"http://127.0.0.1:{origin.server_port}/feed.xml", "take": "all"})
        listed = wait(lambda: (answer := call("GET", "/downloads?state=completed"))["total"] == len(FILES) and answer, "the downloads")
        for download in listed["items"]:
            assert urllib.parse.unquote(download["links"]["file"]).endswith("/" + download["filename"]), download["links"]
        address = service.url + made["links"]["feed"]
        wanted = sorted(hashlib.sha256(content).hexdigest() for content in FILES.values())
        for program in (podget, podboat, gpodder, greg, poca, wget, curl):
            home = f"{root}/{program.__name__}"
            os.makedirs(home)
            told = program(home, address)
            files = {name: digest for name, digest in found(home).items() if not name.startswith(".")}
            audio = {name: digest for name, digest in files.items() if digest in wanted}
            print(f"{program.__name__}: {sorted(files)}")
            # wget keeps the query in names, and curl the escapes.
            if sorted(audio.values()) != wanted or not all(".mp3" in name for name in audio):
                failures.append(f"{program.__name__}: {told[-2000:]}")
    finally:
        service.close()
        origin.shutdown()
        shutil.rmtree(root, ignore_errors=True)
    assert not failures, "\n\n".join(failures)
    print(f"podcasts: 7 programs ({time.monotonic() - begun:.0f} s)")


main()
