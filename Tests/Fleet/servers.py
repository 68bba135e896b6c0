"""The servers of the failure test: as in Deployment/fleet, with ways to them that can fail, and replicas."""

import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "Deployment/fleet"))
from processes import Failure, Postgres, Storage, Unanswered, environment, free_port, launch, status_of, wait  # noqa: E402, F401

#: The fleet's bucket.
BUCKET = "pawl"


class Violation(Failure):
    """A promise of the fleet does not hold."""


def check(holds, what):
    if not holds:
        raise Violation(what() if callable(what) else what)


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
                elif "message" in note:
                    messages.append((note["message"], note["delivery"], note["data"]))
        return list(fetches.values()), messages

    def listings(self):
        """The requests for feeds: name, life, begin and end."""
        found = {}
        with open(self.log, encoding="utf-8") as log:
            for note in map(json.loads, log):
                if "feed" in note:
                    found[note["feed"]] = [note["name"], note["life"], note["began"], note["began"]]
                elif "listed" in note:
                    found[note["listed"]][3] = note["at"]
        return list(found.values())


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


#: Tables beside the fleet's, in which the database itself records replicas and changes of records.
NOTES = """
    CREATE SCHEMA notes;
    CREATE TABLE notes.births (instance bigint, node text, at timestamptz DEFAULT clock_timestamp());
    CREATE TABLE notes.deaths (instance bigint, sequence bigint, at timestamptz DEFAULT clock_timestamp());
    CREATE TABLE notes.records (n bigserial PRIMARY KEY, at timestamptz DEFAULT clock_timestamp(), id text, gone boolean, state text,
        owner bigint, slot_holder bigint, host text, segments text, revision bigint, url text, is_provable boolean);
    CREATE FUNCTION notes.replica() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF TG_OP = 'INSERT' THEN INSERT INTO notes.births (instance, node) VALUES (NEW.id, NEW.node); END IF;
        IF TG_OP = 'DELETE' THEN INSERT INTO notes.deaths (instance, sequence) SELECT OLD.id, sequence FROM pawl.feed_end; END IF;
        RETURN NULL; END $$;
    CREATE FUNCTION notes.record() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN
        IF TG_OP = 'DELETE' THEN r := OLD; ELSE r := NEW; END IF;
        INSERT INTO notes.records (id, gone, state, owner, slot_holder, host, segments, revision, url, is_provable)
            VALUES (r.id, TG_OP = 'DELETE', r.state, r.owner, r.slot_holder, r.host, r.synced_segments, r.revision, r.url,
                coalesce(r.entity_etag, r.entity_last_modified) IS NOT NULL);
        RETURN NULL; END $$;
    CREATE TRIGGER noted AFTER INSERT OR DELETE ON pawl.instances FOR EACH ROW EXECUTE FUNCTION notes.replica();
    CREATE TRIGGER noted AFTER INSERT OR UPDATE OR DELETE ON pawl.downloads FOR EACH ROW EXECUTE FUNCTION notes.record();
    INSERT INTO notes.births SELECT id, node, renewed_at FROM pawl.instances;
"""


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
        files = f"s3://{BUCKET}?endpoint=http://127.0.0.1:{self.storage.port}&public=http://127.0.0.1:{storage.port}"
        options = self.scene.options
        # The first replica creates the tables: an older release's are migrated while it runs.
        binaries = [options.binary, options.beside] if options.beside else [options.binary]
        binary = self.dice.choice(binaries) if len(self.lives) > 1 else binaries[-1]
        with open(self.log, "ab") as log:
            log.write(f"---- life {life.name} of {binary} in {self.data}\n".encode())
            log.flush()
            self.process = launch(
                [binary, "serve", "--port", str(self.port), "--data-dir", self.data,
                 "--store", self.scene.postgres.url(self.database.port), "--files", files, "--lease", f"{options.lease}s",
                 "--max-concurrent", "4", "--max-per-host", str(options.per_host), "--allow-private",
                 "--proxy", f"http://{life.name}:x@127.0.0.1:{self.scene.network.origin}", "--no-proxy", "127.0.0.1",
                 "--log-level", options.log_level, *(["--leave"] if self.number == 2 else [])],
                stdout=subprocess.PIPE, stderr=log, text=True, env=environment(**storage.keys))
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
        return status_of(self.port, "/readyz") == 200
