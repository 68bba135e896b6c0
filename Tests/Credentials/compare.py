"""Compares the credentials that curl and `pawl get` send, and has Digest accepted by two servers.

The origin is a proxy as well, so that both programs reach every host name at it.
"""

import hashlib
import http.server
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

PAWL = os.environ["PAWL_BINARY"]
PATIENCE = 60

NETRC = """# logins
machine a.test login ada password one
machine a.test:8080 login port password two
machine b.test
    login bob
    password "two words"
macdef init
    echo nothing

machine c.test login cy password three
"""

COOKIES = "\n".join([
    "# Netscape HTTP Cookie File",
    ".site.test\tTRUE\t/\tFALSE\t2000000000\tall\t1",
    "#HttpOnly_www.site.test\tFALSE\t/\tFALSE\t0\twww\t2",
    "www.site.test\tFALSE\t/private\tFALSE\t0\tpath\t3",
    "www.site.test\tFALSE\t/\tTRUE\t0\tsecure\t4",
    "www.site.test\tFALSE\t/\tFALSE\t1000000000\tended\t5",
    "a.test\tFALSE\t/\tFALSE\t0\ta\t6", ""])

DEFAULT = NETRC + "default login any password thing\n"


def redirect(to, *cookies):
    """The path of a redirect to a URL, which sets cookies."""
    return "/r?" + urllib.parse.urlencode([("to", to)] + [("cookie", cookie) for cookie in cookies])


# A name, the URL, and the netrc file.
CASES = [
    ("a login", "http://a.test/x", NETRC),
    ("a login of a port", "http://a.test:8080/x", NETRC),
    ("a quoted password", "http://b.test/x", NETRC),
    ("a login after a macro", "http://c.test/x", NETRC),
    ("no login", "http://d.test/x", NETRC),
    ("no login below a host", "http://sub.a.test/x", NETRC),
    ("the default", "http://d.test/x", DEFAULT),
    ("user and password in the URL", "http://eve:four@a.test/x", NETRC),
    ("a redirect within a host", "http://a.test" + redirect("/y"), NETRC),
    ("a redirect to a host with another login", "http://a.test" + redirect("http://b.test/y"), NETRC),
    ("a redirect to a host without one", "http://a.test" + redirect("http://d.test/y"), NETRC),
    ("cookies of a host and its domain", "http://www.site.test/x", NETRC),
    ("cookies of a path", "http://www.site.test/private/x", NETRC),
    ("cookies of a longer path", "http://www.site.test/privateer", NETRC),
    ("cookies of the domain itself", "http://site.test/x", NETRC),
    ("cookies of another host of the domain", "http://cdn.site.test/x", NETRC),
    ("cookies of no host", "http://othersite.test/x", NETRC),
    ("cookies over a redirect", "http://a.test" + redirect("http://www.site.test/x"), NETRC),
    ("a cookie of a redirect", "http://d.test" + redirect("/y", "s=1; Path=/"), NETRC),
    ("a cookie of a redirect for another path", "http://d.test" + redirect("/y", "s=1; Path=/z"), NETRC),
    ("a cookie that replaces one of the file", "http://www.site.test" + redirect("/y", "www=new; Path=/"), NETRC),
    ("a cookie that removes one of the file", "http://www.site.test" + redirect("/y", "www=; Path=/; Max-Age=0"), NETRC),
    ("a cookie for a domain", "http://x.deep.test" + redirect("http://y.deep.test/y", "s=1; Domain=deep.test; Path=/"), NETRC),
    ("a cookie for a foreign domain", "http://x.deep.test" + redirect("http://d.test/y", "s=1; Domain=d.test"), NETRC),
    ("a cookie for a single label", "http://x.deep.test" + redirect("http://d.test/y", "s=1; Domain=test"), NETRC),
    ("a secure cookie without encryption", "http://d.test" + redirect("/y", "s=1; Secure; Path=/"), NETRC),
]


ADA, PORT = "Basic YWRhOm9uZQ==", "Basic cG9ydDp0d28="

# Where curl differs: the credentials of our requests, and the reason.
DIFFERENT = {
    "a login of a port": ([PORT], "curl knows no ports in netrc"),
    "a redirect to a host without one": ([ADA, None], "curl before 8.11.1 sends the first host's password (CVE-2024-11053)"),
    "cookies over a redirect": ([ADA, None], "the same"),
}


class Origin(http.server.BaseHTTPRequestHandler):
    """Every host, by the absolute form of its requests."""

    protocol_version = "HTTP/1.1"
    requests = []
    # The nonces of /digest with the numbers of their requests.
    nonces = {}

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        cookies = sorted(filter(None, self.headers.get("Cookie", "").split("; ")))
        Origin.requests.append({"url": self.path, "authorization": self.headers.get("Authorization"), "cookies": cookies})
        query = urllib.parse.parse_qs(url.query)
        if url.path == "/r":
            fields = [("Location", query["to"][0])] + [("Set-Cookie", cookie) for cookie in query.get("cookie", [])]
            return self.answer(302, fields, b"")
        if url.path == "/digest":
            return self.digest(query["algorithm"][0], int(query.get("uses", ["100"])[0]))
        self.answer(200, [("ETag", '"1"')], b"content")

    def answer(self, status, fields, body):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def digest(self, algorithm, uses):
        """Accepts ada with the password secret. A nonce is good for some requests, with counts that rise."""
        parts = dict(re.findall(r'(\w+)="?([^",]*)"?', self.headers.get("Authorization", "")))
        count = Origin.nonces.get(parts.get("nonce"))
        name = "sha256" if algorithm.upper().startswith("SHA") else "md5"
        hash = lambda text: getattr(hashlib, name)(text.encode()).hexdigest()
        is_right = False
        if "response" in parts:
            key = hash("ada:the realm:secret")
            if algorithm.lower().endswith("-sess"):
                key = hash(f"{key}:{parts['nonce']}:{parts['cnonce']}")
            target = urllib.parse.urlsplit(self.path)
            expected = hash(":".join([
                key, parts["nonce"], parts["nc"], parts["cnonce"], parts["qop"], hash(f"GET:{target.path}?{target.query}")]))
            is_right = parts["response"] == expected and parts["uri"] == f"{target.path}?{target.query}" and parts["username"] == "ada"
            is_right = is_right and parts["opaque"] == "opaque value" and parts["algorithm"] == algorithm
        if is_right and count is not None and count < uses and int(parts["nc"], 16) > count:
            Origin.nonces[parts["nonce"]] = int(parts["nc"], 16)
            return self.answer(200, [], b"content")
        nonce = os.urandom(9).hex()
        Origin.nonces[nonce] = 0
        stale = ", stale=true" if is_right else ""
        challenge = f'Digest realm="the realm", nonce="{nonce}", opaque="opaque value", qop="auth,auth-int", algorithm={algorithm}{stale}'
        self.answer(401, [("WWW-Authenticate", 'Basic realm="the realm"'), ("WWW-Authenticate", challenge)], b"")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)


def private(path, text):
    path.write_text(text)
    path.chmod(0o600)
    return str(path)


def recorded(action):
    """The requests during an action, and its result."""
    Origin.requests.clear()
    result = action()
    return list(Origin.requests), result


def compare(work, proxy):
    cookies = private(work / "cookies", COOKIES)
    failures = []
    for number, (name, url, text) in enumerate(CASES):
        netrc = private(work / "netrc", text)
        theirs, result = recorded(lambda: run(
            "curl", "--silent", "--show-error", "--fail", "--location", "--proxy", proxy, "--netrc-file", netrc, "--netrc-optional",
            "--cookie", cookies, "--output", "/dev/null", url))
        assert result.returncode == 0, result
        ours, result = recorded(lambda: run(
            PAWL, "get", "--proxy", proxy, "--allow-private", "--netrc-file", netrc, "--cookie-file", cookies, "-d",
            str(work / str(number)), url))
        assert result.returncode == 0, (name, result)
        if name in DIFFERENT:
            expected, _ = DIFFERENT[name]
            assert [request["authorization"] for request in ours] == expected, (name, ours)
            for request, credentials in zip(theirs, expected):
                request["authorization"] = credentials
        if theirs != ours:
            failures.append(f"{name}: {url}\n  curl {theirs}\n  pawl {ours}")
    assert not failures, "\n".join(failures)
    print(f"{len(CASES)} cases: the same requests as curl's, but for {len(DIFFERENT)} with a reason")


def digest(work, proxy):
    netrc = private(work / "netrc", "machine a.test login ada password secret\n")
    for algorithm in ["MD5", "MD5-sess", "SHA-256", "SHA-256-sess"]:
        # Several URLs of one run share a nonce; with two uses of each, some become stale.
        urls = [f"http://a.test/digest?algorithm={algorithm}&uses=2&n={n}" for n in range(6)]
        requests, result = recorded(lambda: run(
            PAWL, "get", "--proxy", proxy, "--netrc-file", netrc, "--max-concurrent", "1", "-d", str(work / algorithm), *urls))
        assert result.returncode == 0, (algorithm, result, requests)
        schemes = [(request["authorization"] or "none").split()[0] for request in requests]
        assert schemes.count("Basic") <= 2, schemes
        assert len(requests) < 2 * len(urls), schemes
        basic = [n for n, scheme in enumerate(schemes) if scheme == "Basic"]
        assert all(schemes[n + 1] == "Digest" for n in basic), schemes
        theirs, result = recorded(lambda: run(
            "curl", "--silent", "--show-error", "--fail", "--proxy", proxy, "--netrc-file", netrc, "--digest", "--output", "/dev/null", urls[0]))
        assert result.returncode == 0, (algorithm, result)
        names = lambda text: sorted(re.findall(r"(\w+)=", re.sub(r'"[^"]*"', '""', text)))
        assert names(theirs[-1]["authorization"]) == names(requests[-1]["authorization"]), (theirs[-1], requests[-1])
    wrong = private(work / "netrc", "machine a.test login ada password wrong\n")
    requests, result = recorded(lambda: run(
        PAWL, "get", "--proxy", proxy, "--netrc-file", wrong, "-d", str(work / "wrong"), "http://a.test/digest?algorithm=MD5"))
    assert result.returncode == 1 and "401" in result.stdout + result.stderr, result
    assert len(requests) <= 3, requests
    print("Digest: MD5, SHA-256 and their -sess are accepted; nonces are used again, and stale ones replaced")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def lighttpd(work):
    root = work / "root"
    for algorithm in ["MD5", "SHA-256"]:
        (root / algorithm).mkdir(parents=True)
        (root / algorithm / "file.bin").write_bytes(os.urandom(9 << 20))
    hashes = {
        "MD5": hashlib.md5(b"ada:MD5:secret").hexdigest(), "SHA-256": hashlib.sha256(b"ada:SHA-256:secret").hexdigest()}
    users = private(work / "users", "".join(f"ada:{realm}:{value}\n" for realm, value in hashes.items()))
    port = free_port()
    rules = ", ".join(
        f'"/{name}/" => ("method" => "digest", "algorithm" => "{name}", "realm" => "{name}", "require" => "valid-user")'
        for name in hashes)
    config = private(work / "lighttpd.conf", f"""
server.document-root = "{root}"
server.port = {port}
server.bind = "127.0.0.1"
server.modules = ("mod_auth", "mod_authn_file")
server.errorlog = "{work}/lighttpd.log"
auth.backend = "htdigest"
auth.backend.htdigest.userfile = "{users}"
auth.require = ({rules})
""")
    server = subprocess.Popen(["lighttpd", "-D", "-f", config])
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert time.monotonic() < deadline and server.poll() is None, (work / "lighttpd.log").read_text()
                time.sleep(0.03)
        netrc = private(work / "netrc", f"machine 127.0.0.1:{port} login ada password secret\n")
        for name in hashes:
            target = work / f"lighttpd-{name}"
            result = run(PAWL, "get", "--netrc-file", netrc, "-x", "4", "-d", str(target), f"http://127.0.0.1:{port}/{name}/file.bin")
            assert result.returncode == 0, (name, result)
            assert (target / "file.bin").read_bytes() == (root / name / "file.bin").read_bytes(), name
    finally:
        server.terminate()
        server.wait()
    print("lighttpd: Digest with MD5 and SHA-256 is accepted on four connections")


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Origin)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    proxy = f"http://127.0.0.1:{server.server_port}"
    work = pathlib.Path(tempfile.mkdtemp(prefix="pawl-credentials-"))
    try:
        compare(work, proxy)
        digest(work, proxy)
        lighttpd(work)
    finally:
        server.shutdown()
        shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(main())
