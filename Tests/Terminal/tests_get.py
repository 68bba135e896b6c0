"""`pawl get` on a terminal, in a pipe, and interrupted."""

import json
import os
import re
import signal
import subprocess

from service import fetch, wait

ESCAPE = "\x1b"


def entity(fixture, size, seed=1, **more):
    query = "&".join(f"{name}={value}" for name, value in {"size": size, "seed": seed, **more}.items())
    return f"{fixture.service.upstream}/entity?{query}"


def plain_environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("PAWL_")}


def get_shows_a_bar_with_speed_and_time_left(fixture):
    terminal = fixture.terminal(100, 20)
    terminal.run(f"pawl get -o some.bin '{entity(fixture, 7_000_000, pace=200_000)}'")
    screen = terminal.wait_for(r"^some.bin +━+.* \d+%  .*MiB .*/s +\d+s left")
    lines = [line for line in screen.split("\n") if "━" in line]
    assert len(lines) == 1 and len(lines[0]) <= 99, screen
    terminal.type("C-c")
    terminal.wait_for("interrupted")
    url = entity(fixture, 3_000_000, seed=2)
    status, screen = terminal.finish(f"clear; pawl get -o other.bin '{url}'")
    assert status == 0 and "saved other.bin (2.8 MiB)" in screen and "━" not in screen, screen
    assert fixture.path("other.bin").read_bytes() == fetch(url)


def get_fits_narrow_terminals_and_follows_their_size(fixture):
    terminal = fixture.terminal(100, 20)
    terminal.run(f"clear; pawl get -o a-long-name-of-a-file.bin '{entity(fixture, 7_500_000, pace=150_000)}'")
    terminal.wait_for(r"━.*/s")
    terminal.resize(30, 12)
    screen = terminal.wait_for(r"^a-lo\S*…\S*bin +\d+%  \S+ KiB/s$")
    assert "━" not in screen.split("\n")[-1], screen
    terminal.resize(14, 12)
    terminal.wait_for(r"^\S+ +\d+%$")
    terminal.resize(80, 20)
    terminal.wait_for(r"━.*left")
    terminal.type("C-c")
    screen = terminal.wait_for("^pawl: interrupted")
    # No earlier drawing stays; but tmux wraps lines before it reports a new size, and a drawing in between may leave a line.
    assert len(re.findall(r"\d+%", screen)) <= 3, screen


def get_of_many_has_a_line_for_each_and_a_total(fixture):
    slow = [entity(fixture, 900_000, seed, pace=60_000) for seed in range(1, 5)]
    fixture.path("slow.txt").write_text("# four\n" + "\n".join(slow) + "\n")
    terminal = fixture.terminal(90, 20)
    terminal.run("pawl get -i slow.txt -d slow --max-per-host 2")
    terminal.wait_for(r"(?s)/s +\d+s left\n.*/s +\d+s left\n.* queued\n.* queued\ntotal: 0 of 4 done ")
    terminal.type("C-c")
    terminal.wait_for("interrupted")
    fixture.path("list.txt").write_text("\n".join(entity(fixture, 900_000, seed, pace=300_000) for seed in range(1, 5)))
    terminal.run("clear; pawl get -i list.txt -d out; echo status $?")
    terminal.wait_for(r"^total: \d of 4 done +[━╸─]+.* \d+% ")
    screen = terminal.wait_for(r"^status 0")
    assert len(re.findall("^saved out/", screen, re.MULTILINE)) == 4, screen
    assert re.search(r"^total: 4 of 4 downloads, 3.4 MiB in \d+s", screen, re.MULTILINE), screen
    assert len(os.listdir(fixture.path("out"))) == 4


def get_of_more_downloads_than_rows(fixture):
    urls = [entity(fixture, 400_000, seed, pace=100_000) for seed in range(1, 21)]
    fixture.path("list.txt").write_text("\n".join(urls))
    terminal = fixture.terminal(80, 10)
    terminal.run("clear; pawl get -i list.txt --max-concurrent 20 --max-per-host 20; echo status $?")
    terminal.wait_for(r"and \d+ more\n^total: ")
    terminal.wait_for(r"^total: 20 of 20 downloads(?s:.*)^status 0")
    # No line of a later drawing has scrolled away.
    history = terminal.tmux("capture-pane", "-p", "-S", "-200")
    assert history.count("saved ") == 20, history
    assert "queued" not in history and "more" not in history, history


def get_in_a_pipe_writes_plain_lines(fixture):
    url = entity(fixture, 600_000, pace=300_000)
    bad = fixture.service.upstream + "/nothing"
    answer = subprocess.run(
        [os.environ["PAWL_BINARY"], "get", url, bad], cwd=fixture.directory, env=plain_environment(), capture_output=True,
        text=True, timeout=90)
    assert answer.returncode == 1, answer
    assert ESCAPE not in answer.stdout + answer.stderr and "\r" not in answer.stdout, answer
    lines = answer.stdout.splitlines()
    assert any(re.search(r": \d+% of 585.9 KiB", line) for line in lines), lines
    assert any(line.startswith("saved ") for line in lines), lines
    assert lines[-1].startswith("total: 1 of 2 downloads"), lines
    assert answer.stderr.startswith(f"pawl: {bad}: ") and "404" in answer.stderr, answer


def get_with_json_writes_events(fixture):
    url = entity(fixture, 600_000, pace=300_000)
    answer = subprocess.run(
        [os.environ["PAWL_BINARY"], "get", "--json", url], cwd=fixture.directory, env=plain_environment(), capture_output=True,
        text=True, timeout=90)
    assert answer.returncode == 0, answer
    events = [json.loads(line) for line in answer.stdout.splitlines()]
    assert [event["event"] for event in events][-2:] == ["saved", "done"], events
    assert events[0]["event"] == "progress" and events[0]["bytesTotal"] == 600_000, events
    assert fixture.path(events[-2]["path"]).stat().st_size == events[-1]["bytes"] == 600_000


def get_resumes_after_kill_9(fixture):
    url = entity(fixture, 4_000_000, seed=9, pace=400_000)
    terminal = fixture.terminal()
    terminal.run(f"pawl get -o k.bin '{url}'; echo status $?")
    terminal.wait_for(r" [3-9]\d%  ")
    # Received bytes are on disk within a second.
    wait(lambda: sum(file.stat().st_blocks for file in fixture.path(".pawl-get/incomplete").iterdir()) > 0, "a partial file")
    terminal.wait_for(r" [6-9]\d%  ")
    os.kill(terminal.child(), signal.SIGKILL)
    terminal.wait_for("^status 137")
    terminal.clear()
    terminal.run(f"pawl get -o k.bin '{url}'; echo status $?")
    # The download does not start from the first byte.
    first = terminal.wait_for(r" (\d+)%  |saved")
    shown = re.search(r" (\d+)%  ", first)
    assert shown is None or int(shown[1]) >= 10, first
    terminal.wait_for("^status 0")
    assert fixture.path("k.bin").read_bytes() == fetch(url.split("&pace")[0])

    def asks():
        with open(fixture.service.directory + "/log", encoding="utf-8") as log:
            return [line for line in log if "seed=9" in line and "bytes=" in line]

    wait(asks, "the second run asks for a range")


def get_interrupted_says_how_to_resume(fixture):
    url = entity(fixture, 4_000_000, seed=3, pace=500_000)
    terminal = fixture.terminal()
    terminal.run(f"pawl get -o c.bin '{url}'; echo status $?")
    terminal.wait_for(r" [2-9]\d%  ")
    terminal.type("C-c")
    screen = terminal.wait_for(r"^status 130")
    assert re.search(r"^pawl: interrupted; run the same command again to resume: [\d.]+ .iB are kept in \./\.pawl-get", screen,
                     re.MULTILINE), screen
    assert not fixture.path("c.bin").exists()
    status, screen = terminal.finish(f"pawl get -o c.bin --limit 20M '{url}'")
    assert status == 0, screen
    assert fixture.path("c.bin").read_bytes() == fetch(url.split("&pace")[0])
    assert not fixture.path(".pawl-get").exists()


def get_ends_with_the_right_status(fixture):
    good, bad = entity(fixture, 1000), fixture.service.upstream + "/nothing"
    zeros = "0" * 64
    terminal = fixture.terminal(120, 40)
    for line, expected, said in [
        (f"pawl get '{good}'", 0, "saved"),
        (f"pawl get '{bad}'", 1, "failed: .*404"),
        (f"pawl get --checksum sha-256:{zeros} '{good}'", 1, "failed: .*sha-256"),
        ("pawl get --limit fast http://a.example/", 2, r"takes bytes per second"),
        ("pawl get -i missing.txt", 2, "cannot read missing.txt: No such file"),
        ("echo ftp://a.example/ | pawl get -i -", 2, "standard input, line 1: 'ftp://a.example/'"),
        ("pawl get", 2, "nothing to download"),
        ("pawl gett", 2, "did you mean get"),
    ]:
        terminal.clear()
        status, screen = terminal.finish(line)
        assert status == expected and re.search(said, screen), f"{line}\n{screen}"
    sha = subprocess.run(["sha512sum"], input=fetch(good), capture_output=True).stdout.decode().split()[0]
    status, screen = terminal.finish(f"pawl get -o right.bin --checksum sha-512:{sha} '{good}'")
    assert status == 0, screen


def get_writes_into_a_directory(fixture):
    url = entity(fixture, 1000)
    fixture.path("there").mkdir()
    for output in ["there", "new/", "there/"]:
        answer = subprocess.run(
            [os.environ["PAWL_BINARY"], "get", "-o", output, url], cwd=fixture.directory, env=plain_environment(),
            capture_output=True, text=True, timeout=90)
        assert answer.returncode == 0, answer
    assert sorted(path.name for path in fixture.path("there").iterdir()) == ["entity", "entity (2)"]
    assert [path.name for path in fixture.path("new").iterdir()] == ["entity"]


def get_reports_a_failure_once(fixture):
    bad = fixture.service.upstream + "/nothing"
    for flags, place in [([], "stderr"), (["--json"], "stdout")]:
        answer = subprocess.run(
            [os.environ["PAWL_BINARY"], "get", *flags, bad], cwd=fixture.directory, env=plain_environment(),
            capture_output=True, text=True, timeout=90)
        assert answer.returncode == 1, answer
        said = [name for name in ["stdout", "stderr"] for line in getattr(answer, name).splitlines() if "404" in line]
        assert said == [place], answer


def get_without_unicode_or_colours(fixture):
    url = entity(fixture, 7_000_000, pace=300_000)
    terminal = fixture.terminal(90, 20, LC_ALL="C", NO_COLOR="1")
    terminal.run(f"pawl get -o some.bin '{url}'")
    terminal.wait_for(r"\[=+ +\] +\d+%")
    assert ESCAPE not in terminal.screen(styles=True), terminal.screen(styles=True)
    terminal.type("C-c")
    terminal.wait_for("interrupted")


def get_writes_lines_to_a_terminal_that_cannot_be_drawn_on(fixture):
    terminal = fixture.terminal(90, 20, TERM="dumb")
    status, screen = terminal.finish(f"pawl get '{entity(fixture, 600_000, pace=300_000)}'")
    assert status == 0 and re.search(r"^entity: \d+% of 585.9 KiB", screen, re.MULTILINE), screen


def get_ended_by_sigterm_keeps_its_bytes(fixture):
    url = entity(fixture, 4_000_000, seed=4, pace=800_000)
    child = subprocess.Popen(
        [os.environ["PAWL_BINARY"], "get", "--json", url], cwd=fixture.directory, env=plain_environment(),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for line in child.stdout:
        if json.loads(line).get("bytesReceived", 0) > 0:
            break
    child.send_signal(signal.SIGTERM)
    output, errors = child.communicate(timeout=90)
    assert child.returncode == 143, child.returncode
    assert json.loads(output.splitlines()[-1])["interrupted"] is True
    assert b"run the same command again" in errors, errors


TESTS = [
    get_shows_a_bar_with_speed_and_time_left, get_fits_narrow_terminals_and_follows_their_size,
    get_of_many_has_a_line_for_each_and_a_total, get_of_more_downloads_than_rows, get_in_a_pipe_writes_plain_lines,
    get_with_json_writes_events, get_resumes_after_kill_9, get_interrupted_says_how_to_resume, get_ends_with_the_right_status,
    get_without_unicode_or_colours, get_writes_lines_to_a_terminal_that_cannot_be_drawn_on, get_ended_by_sigterm_keeps_its_bytes,
]
