"""Runs a service behind each proxy, and a client before it. Called by Tests/Proxies/run."""

import argparse
import concurrent.futures
import contextlib
import getpass
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import check
from proxies import proxies, version_of

LIMIT = 20


class Host:
    """The processes of a run, in a directory of their own."""

    def __init__(self, root):
        self.root = root
        # Processes of other users, such as nginx's workers, read files there.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="pawl-proxies."))
        self.directory.chmod(0o755)
        self.children = []
        self.files = {
            "root": root, "user": getpass.getuser(), "other": "nobody" if os.getuid() == 0 else getpass.getuser(),
            "certificate": f"{self.directory}/certificate.pem", "key": f"{self.directory}/key.pem",
            "pem": f"{self.directory}/both.pem", "modules": f"{root}/usr/lib/apache2/modules", "socket": f"{self.directory}/pawl.sock",
        }
        libraries = [f"{root}{folder}" for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu/varnish",
                                                      "/usr/lib/trafficserver", "/lib/x86_64-linux-gnu")]
        self.environment = {
            **os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:{root}/usr/sbin:{root}/usr/bin:{root}/python/bin",
            "LD_LIBRARY_PATH": ":".join(libraries), "NODE_PATH": f"{root}/usr/share/nodejs:/usr/share/nodejs", "H2O_ROOT": f"{root}/usr",
            **dict.fromkeys(["HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "TMPDIR"], str(self.directory)),
        }
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=media.example", "-addext",
             "subjectAltName=DNS:media.example", "-keyout", self.files["key"], "-out", self.files["certificate"]],
            check=True, stderr=subprocess.DEVNULL)
        texts = [pathlib.Path(self.files[name]).read_text() for name in ("key", "certificate")]
        pathlib.Path(self.files["pem"]).write_text("".join(texts))

    def start(self, command, log, **options):
        with open(log, "ab") as file:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=file, start_new_session=True, **{"stdout": file, **options})
        self.children.append(child)
        return child

    def start_service(self, *flags):
        """Starts a service; returns it with its port and log."""
        log = self.directory / f"service-{len(self.children)}.log"
        data = f"{self.directory}/data-{len(self.children)}"
        child = self.start(
            [os.environ["PAWL_BINARY"], "demo", "--port", "0", "--data-dir", data, "--base-path", "/pawl", "--allowed-host", "media.example",
             "--log-level", "debug", "--log-format", "json", *flags],
            log, env={**os.environ, "PAWL_TOKEN": check.TOKEN}, stdout=subprocess.PIPE, text=True)
        line = child.stdout.readline()
        check.expect(line.startswith("listening on "), f"the service does not start: {log.read_text()[-2000:]}")
        return child, int(line.rsplit(":", 1)[1]), log

    def start_proxy(self, name, proxy, port, service):
        """Starts a proxy, and waits until it listens."""
        directory = self.directory / name
        names = {**self.files, "directory": directory, "port": port, "service": service}

        def fill(text):
            for each, value in names.items():
                text = text.replace(f"@{each}@", str(value))
            return text

        directory.mkdir()
        for path, text in proxy.files.items():
            target = directory / path
            target.parent.mkdir(exist_ok=True)
            target.write_text(fill(text))
        # Some proxies refuse to run as root, and change to that user.
        if os.getuid() == 0:
            for path in (directory, *directory.rglob("*")):
                shutil.chown(path, "nobody")
        log = directory / "output"
        child = self.start(fill(proxy.command).split(), log, env=self.environment)
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline and child.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return child
            time.sleep(0.05)
        errors = directory / "errors"
        raise AssertionError(f"it does not start: {log.read_text()[-2000:]}{errors.read_text()[-2000:] if errors.exists() else ''}")

    def close(self):
        for child in reversed(self.children):
            try:
                os.killpg(child.pid, signal.SIGTERM)
            except ProcessLookupError:
                continue
        for child in self.children:
            try:
                child.wait(LIMIT)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        shutil.rmtree(self.directory, ignore_errors=True)


def free_ports(number):
    """Free ports, below those that outgoing connections of this test get."""
    ports = []
    while len(ports) < number:
        port = random.randrange(20_000, 32_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            if port not in ports:
                ports.append(port)
    return ports


def main():
    table = proxies()
    parser = argparse.ArgumentParser(prog="Tests/Proxies/run")
    parser.add_argument("--wait", type=int, default=45, help="seconds of a long poll; default: 45, at most 60")
    parser.add_argument("names", nargs="*", metavar="PROXY", help=f"default: all of {', '.join(table)}")
    options = parser.parse_args()
    if unknown := set(options.names) - set(table):
        parser.error(f"there is no proxy {', '.join(sorted(unknown))}")
    chosen = {name: proxy for name, proxy in table.items() if not options.names or name in options.names}
    host = Host(os.environ["PROXIES_ROOT"])
    try:
        return run(host, chosen, options.wait)
    finally:
        host.close()


def run(host, chosen, wait):
    ports = dict(zip(chosen, free_ports(len(chosen))))
    service, service_port, log = host.start_service("--trusted-proxy", "127.0.0.1", "--unix-socket", host.files["socket"])
    check.expect(os.stat(host.files["socket"]).st_mode & 0o777 == 0o660, "the socket's mode")
    # A service that believes no fields, for proxies that pass all of a client's.
    pages = [word for name in chosen for word in ("--cors-origin", f"https://media.example:{ports[name]}") if not chosen[name].adds_fields]
    bare = host.start_service(*pages) if pages else None

    def check_one(name):
        proxy = chosen[name]
        number = list(chosen).index(name)
        port, own_log = (service_port, log) if proxy.adds_fields else bare[1:]
        version = version_of(proxy, host.root, host.environment)
        try:
            child = host.start_proxy(name, proxy, ports[name], port)
            faults, tag = check.run(check.Setup(name, proxy, ports[name], host.files["certificate"], own_log, wait), number)
            if child.poll() is not None:
                faults.append(f"it has ended with status {child.returncode}")
        except AssertionError as error:
            faults, tag = [str(error)], None
        return f"{'FAILED' if faults else 'passed'}  {name} {version}, {tag}" + "".join(f"\n        {fault}" for fault in faults), not faults

    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(len(chosen)) as pool:
        results = []
        for each in concurrent.futures.as_completed([pool.submit(check_one, name) for name in chosen]):
            text, passed = each.result()
            print(text, flush=True)
            results.append(passed)
    if "nginx" in chosen:
        logged = (host.directory / "nginx/access.log").read_text()
        check.expect(logged and "?" not in logged, "nginx logs nothing, or queries, which may hold tickets")
    service.send_signal(signal.SIGTERM)
    check.expect(service.wait(LIMIT) == 0, f"the service ended with status {service.returncode}")
    check.expect(not os.path.exists(host.files["socket"]), "the service leaves its socket")
    print(f"{time.monotonic() - begun:.0f} s")
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
