"""The store of a fleet: how many records of new downloads PostgreSQL takes through it, beside what it takes from pgbench, and SQLite."""

import glob
import os
import pathlib
import statistics
import subprocess

import harness

ROUNDS = 3
SECONDS_OF_PGBENCH = 3
# Writers, and records: as many as take some seconds.
SIZES = ((1, 1_000), (64, 20_000), (500, 40_000))
# The columns that a new download has something in.
INSERT = """
    INSERT INTO pawl.downloads (id, url, state, bytes_received, file_missing, segments, attempts, priority, speed_limit,
            created_at, updated_at, revision, entity_known, event_epoch, event_sequence, host, needs_slot)
        VALUES ('7' || lpad((:n * 1000 + {number})::text, 12, '0') || lpad(:client_id::text, 13, '0'),
            'https://example.com/files/{number}.bin', 'paused', 0, 0, 0, 0, 0, 0, 1763717520000, 1763717520000, 1, 0, 0, 0,
            'example.com:443', false);"""


def store(_):
    """PostgreSQL syncs its log before each answer, as does SQLite."""
    binary = Postgres.binary = harness.build_driver("store-benchmark")
    with harness.Scratch() as directory, Postgres(directory) as server:
        contestants = {
            "pgbench": lambda writers, count, turn: server.pgbench(directory, writers),
            "pawl, PostgreSQL": lambda writers, count, turn: measure(
                binary, "postgres", server.database(f"pawl_{turn}_{writers}"), writers, count),
            "pawl, SQLite": lambda writers, count, turn: measure(
                binary, "sqlite", os.path.join(directory, f"data-{turn}-{writers}"), writers, count),
        }
        print(f"fleet-store: records/s, each its writer's own change, and CPU of the writing process; medians of {ROUNDS} rounds"
              " (wanted: 0.6 x pgbench, which inserts as many in one pipeline as there are writers)")
        for writers, count in SIZES:
            results = {name: [] for name in contestants}
            for turn in range(ROUNDS):
                for name, contestant in contestants.items():
                    results[name].append(contestant(writers, count, turn))
            limit = statistics.median(rate for rate, _ in results["pgbench"])
            for name, pairs in results.items():
                rate, cpu = (statistics.median(values) for values in zip(*pairs))
                print(f"  {writers:3} writers  {name:18} {rate:8.0f}/s {cpu * 1e6:6.0f} us CPU each   {rate / limit:.2f} x pgbench",
                      flush=True)


def measure(binary, kind, place, writers, count):
    """Records per second, and seconds of processor time for one."""
    out = subprocess.run([binary, kind, place, str(writers), str(count)], check=True, capture_output=True, text=True).stdout
    wall, cpu = map(float, out.split())
    return count / wall, cpu / count


class Postgres:
    """A server with its defaults, but for its place and memory: what it has answered is on the disk."""

    # The driver, which makes the tables.
    binary = None

    def __init__(self, directory):
        self.directory = directory
        self.port = harness.free_port()
        self.programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]

    def command(self, program, *arguments):
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
        return [*user, os.path.join(self.programs, program), *arguments]

    def __enter__(self):
        os.chmod(self.directory, 0o755)
        home = harness.subdirectory(self.directory, "postgres")
        if os.geteuid() == 0:
            subprocess.run(["chown", "postgres", home], check=True)
        data = os.path.join(home, "data")
        subprocess.run(self.command("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"),
                       check=True, stdout=subprocess.DEVNULL, cwd="/")
        self.server = harness.Process(
            self.command("postgres", "-D", data, "-p", str(self.port), "-c", "listen_addresses=127.0.0.1",
                         "-c", f"unix_socket_directories={home}", "-c", "shared_buffers=256MB", "-c", "max_wal_size=4GB"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        harness.wait_for_port(self.port)
        return self

    def __exit__(self, *_):
        self.server.stop()

    def address(self, name):
        return f"host=127.0.0.1 port={self.port} user=postgres dbname={name}"

    def run(self, name, sql):
        subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", self.address(name), "-c", sql], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "PGOPTIONS": "-c client_min_messages=warning"})

    def database(self, name):
        """A new one."""
        self.run("postgres", f"DROP DATABASE IF EXISTS {name}")
        self.run("postgres", f"CREATE DATABASE {name}")
        return self.address(name)

    def pgbench(self, directory, group):
        """The same rows, in groups of that size, each one pipeline and one transaction, on one connection."""
        name = f"pgbench_{group}"
        self.database(name)
        # The tables come with the first start of the driver.
        measure(self.binary, "postgres", self.address(name), 1, 1)
        self.run(name, "DELETE FROM pawl.instances; SELECT pawl.register(7, 'pgbench', '1')")
        body = "[" + ", ".join(["null"] * 53) + "]" + " " * 250
        script = os.path.join(directory, "pgbench.sql")
        pathlib.Path(script).write_text("\n".join(
            ["\\set n :n + 1", "\\startpipeline", "SELECT pawl.fence(7, :n);"]
            + [INSERT.format(number=number).replace("\n", " ") for number in range(group)]
            + [f"SELECT pawl.publish(7, array_fill('{'0' * 26}'::text, ARRAY[{group}]), array_fill('{body}'::text, ARRAY[{group}]));",
               "\\endpipeline"]) + "\n")
        before = os.times()
        out = subprocess.run(["pgbench", "-n", "-M", "prepared", "-c", "1", "-T", str(SECONDS_OF_PGBENCH), "-D", "n=0", "-f", script,
                              "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", name],
                             check=True, capture_output=True, text=True).stdout
        after = os.times()
        lines = dict(line.split(" = ") if " = " in line else line.split(": ", 1) for line in out.splitlines() if " = " in line or ": " in line)
        done = int(lines["number of transactions actually processed"].split("/")[0]) * group
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        return float(lines["tps"].split()[0]) * group, spent / done
