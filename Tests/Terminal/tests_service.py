"""The commands for a running service, and the screen of `pawl watch`."""

import itertools
import json
import os
import re
import signal
import subprocess
import threading

from service import Service, wait
from tests_get import ESCAPE, entity

PAWL = os.environ["PAWL_BINARY"]


def pawl(fixture, *arguments, service=None, **environment):
    """Runs a command without a terminal."""
    variables = {"HOME": fixture.directory, "PATH": os.environ["PATH"], "PAWL_SERVER": (service or fixture.service).url}
    variables.update(environment)
    return subprocess.run([PAWL, *arguments], cwd=fixture.directory, env=variables, capture_output=True, text=True, timeout=90)


def listed(fixture, *arguments):
    answer = pawl(fixture, "list", "--json", *arguments)
    assert answer.returncode == 0, answer
    return [json.loads(line) for line in answer.stdout.splitlines()]


def downloads_are_added_listed_and_commanded(fixture):
    slow = entity(fixture, 50_000_000, seed=11, pace=200_000)
    terminal = fixture.terminal(100, 40, PAWL_SERVER=fixture.service.url)
    status, screen = terminal.finish(f"pawl add -l mine '{slow}'")
    assert status == 0 and re.search(r"^[0-9A-Z]{26}  added ", screen, re.MULTILINE), screen
    id = listed(fixture, "-l", "mine")[0]["id"]
    short = id[-8:].lower()
    terminal.clear()
    for line, said in [
        (f"pawl add '{slow}'", "is downloading"), ("pawl list -l mine", rf"^# +ID +STATE +DONE.*\n1 +\S*{id[-6:]}  downloading"),
        ("pawl pause 1", "paused"), ("pawl list --state paused", "paused"), (f"pawl resume {short}", "(queued|downloading)"),
        (f"pawl cancel {short}", "cancelled"), (f"pawl retry {short}", "(queued|downloading)"), (f"pawl pause {short}", "paused"),
        (f"pawl rm {short}", "removed .*entity"),
    ]:
        terminal.clear()
        status, screen = terminal.finish(line)
        assert status == 0 and re.search(said, screen, re.MULTILINE), f"{line}\n{screen}"
    assert not listed(fixture, "-l", "mine")
    # An empty list has no rows, whatever an earlier one had.
    for line, expected, said in [("pawl list -l mine", 0, "no downloads"), ("pawl rm 1", 2, "the last list has 0 downloads: there is no 1")]:
        terminal.clear()
        status, screen = terminal.finish(line)
        assert status == expected and said in screen, f"{line}\n{screen}"


def refusals_are_reported_and_others_continue(fixture):
    small = entity(fixture, 1000, seed=12)
    terminal = fixture.terminal(130, 40, PAWL_SERVER=fixture.service.url)
    status, screen = terminal.finish(f"pawl add -l refused http://10.0.0.1/x '{small}'")
    assert status == 1 and re.search(r"^pawl: http://10.0.0.1/x: .*10.0.0.1", screen, re.MULTILINE), screen
    id = wait(lambda: next(iter(listed(fixture, "-l", "refused", "--state", "completed")), None), "a completed download")["id"]
    terminal.clear()
    status, screen = terminal.finish(f"pawl pause {id} 01NONE")
    assert status == 1, screen
    assert re.search(r"^pawl: .*completed", screen, re.MULTILINE) and "there is no download '01NONE'" in screen, screen
    status, screen = terminal.finish(f"pawl rm --delete-file {id}")
    assert status == 0, screen


def ids_are_listed_without_a_limit(fixture):
    fixture.path("sixty.txt").write_text("".join(entity(fixture, 10, seed) + "\n" for seed in range(4_000, 4_060)))
    assert pawl(fixture, "add", "--paused", "-l", "sixty", "-i", "sixty.txt").returncode == 0
    rows = pawl(fixture, "list", "-l", "sixty")
    assert rows.stdout.count("\n") == 51 and "50 of 60 downloads are listed" in rows.stderr, rows
    ids = pawl(fixture, "list", "--ids", "-l", "sixty")
    assert len(ids.stdout.split()) == 60 and ids.stderr == "", ids
    assert pawl(fixture, "rm", *ids.stdout.split()).returncode == 0


def all_with_a_label_are_commanded_at_once(fixture):
    for seed in (21, 22, 23):
        assert pawl(fixture, "add", "-l", "bulk", entity(fixture, 50_000_000, seed, pace=100_000)).returncode == 0
    assert pawl(fixture, "pause", "--all", "-l", "bulk").stdout == "paused 3\n"
    assert {download["state"] for download in listed(fixture, "-l", "bulk")} == {"paused"}
    assert pawl(fixture, "cancel", "--all", "-l", "bulk").stdout == "cancelled 3\n"
    ids = pawl(fixture, "list", "--ids", "-l", "bulk").stdout.split()
    # All downloads have ended, so the command ends at once with their states.
    late = pawl(fixture, "watch", *ids)
    assert late.returncode == 1 and late.stdout.count("cancelled") == 3, late
    assert pawl(fixture, "watch", "--json", ids[0]).stdout.startswith('{"event":"download",')
    assert len(ids) == 3 and pawl(fixture, "rm", *ids).returncode == 0
    first, second = ids[0], ids[1]
    assert pawl(fixture, "pause", os.path.commonprefix([first, second])).returncode == 1


def a_folder_is_set_shown_and_selected_by(fixture):
    for seed, folder in ((31, "tapes/live"), (32, "tapes"), (33, "")):
        assert pawl(fixture, "add", "--paused", "-o", "a.bin", "-l", "folders", "--folder", folder, entity(fixture, 10, seed)).returncode == 0
    assert {download["folder"] for download in listed(fixture, "--folder", "tapes")} == {"tapes"}
    rows = pawl(fixture, "list", "-l", "folders").stdout
    assert "  tapes/live/a.bin" in rows and "  tapes/a.bin" in rows and "  a.bin" in rows, rows
    assert pawl(fixture, "cancel", "--all", "-l", "folders", "--folder", "").stdout == "cancelled 1\n"
    assert pawl(fixture, "cancel", "--all", "--folder", "tapes/live").stdout == "cancelled 1\n"
    refused = pawl(fixture, "add", "--folder", "../tapes", entity(fixture, 10, 34))
    assert refused.returncode == 1 and "folder" in refused.stderr, refused
    assert pawl(fixture, "rm", *pawl(fixture, "list", "--ids", "-l", "folders").stdout.split()).returncode == 0


def a_search_is_a_table_whose_numbers_can_be_added(fixture):
    terminal = fixture.terminal(110, 40, PAWL_SERVER=fixture.service.url)
    status, screen = terminal.finish("pawl search -n 5 field recording")
    assert status == 0 and re.search(r"^#  NAME +ARTIST +COLLECTION +TIME", screen, re.MULTILINE), screen
    assert re.search(r"^3  Field Recording", screen, re.MULTILINE) and "courtesy of iTunes" in screen, screen
    terminal.clear()
    status, screen = terminal.finish("pawl add --paused 2-3")
    assert status == 0 and len(re.findall("  paused +Field Recording", screen)) == 2, screen
    tracks = [download["track"]["name"] for download in listed(fixture, "--state", "paused") if download["track"]]
    assert sorted(tracks) == sorted(name.strip() for name in re.findall(r"paused +(Field Recording.*)", screen)), tracks
    status, screen = terminal.finish("pawl add 6")
    assert status == 2 and re.search("has [35] results: there is no 6", screen), screen
    terminal.resize(40, 40)
    terminal.clear()
    status, screen = terminal.finish("pawl search -n 5 field recording")
    assert status == 0 and "COLLECTION" not in screen and "NAME" in screen, screen
    assert pawl(fixture, "rm", *pawl(fixture, "list", "--ids", "--state", "paused").stdout.split()).returncode == 0


def the_parts_of_a_work_are_a_list_whose_numbers_can_be_added(fixture):
    """Needs the item tidewater-soundings-2023 of `pawl demo`'s archive: eight tracks or more, as Flac and as VBR MP3."""
    work = "archive:tidewater-soundings-2023"
    terminal = fixture.terminal(110, 50, PAWL_SERVER=fixture.service.url)
    status, screen = terminal.finish("pawl search --source archive tidewater soundings")
    row = re.search(r"^ *(\d+)  Soundings.* parts$", screen, re.MULTILINE)
    assert status == 0 and row, screen
    terminal.clear()
    status, screen = terminal.finish(f"pawl parts {row[1]}")
    assert status == 0 and re.search(r"^ *# +NAME +TIME +FORMAT +SIZE", screen, re.MULTILINE), screen
    assert re.search(r"^ *2  .+  5:58  Flac +5\.6 MiB$", screen, re.MULTILINE), screen
    assert re.search(r"^\d+ parts, [\d.]+ MiB", screen, re.MULTILINE), screen
    assert re.search(r"^FORMAT +PARTS +SIZE +SOURCE +LISTED\n(.*\n)*Flac .*original +yes$", screen, re.MULTILINE), screen
    assert re.search(r"^VBR MP3 .*derivative$", screen, re.MULTILINE), screen
    # The number still refers to the search, although parts were listed since.
    terminal.clear()
    status, screen = terminal.finish(f"pawl parts {row[1]} --format 'vbr mp3'")
    assert status == 0 and re.search(r"^ *8  .+  VBR MP3 ", screen, re.MULTILINE) and "  Flac  " not in screen, screen
    terminal.clear()
    status, screen = terminal.finish("pawl add --paused 2-3 5")
    assert status == 0 and len(re.findall("  paused  ", screen)) == 3, screen
    status, screen = terminal.finish("pawl add 2-999")
    assert status == 2 and re.search(r"the list of 'Soundings.*' has \d+ parts: there is no 999", screen), screen
    terminal.clear()
    status, screen = terminal.finish(f"pawl add --paused --format 'VBR MP3' {work}")
    assert status == 0 and re.search(rf": \d+ paused, 3 there already; its label is {work}$", screen, re.MULTILINE), screen
    # The whole work, with existing parts.
    count = len(listed(fixture, "-l", work))
    parts = [json.loads(line) for line in pawl(fixture, "parts", "--json", work, "--format", "VBR MP3").stdout.splitlines()]
    assert count == len(parts) and {part["partOf"] for part in parts} == {work}, parts
    assert {part["download"]["state"] for part in parts} == {"paused"}, parts
    assert pawl(fixture, "cancel", "--all", "-l", work).stdout == f"cancelled {count}\n"
    refused = pawl(fixture, "add", "--format", "Ogg", work)
    assert refused.returncode == 1 and "VBR MP3" in refused.stderr, refused
    assert pawl(fixture, "rm", *pawl(fixture, "list", "--ids", "-l", work).stdout.split()).returncode == 0


def a_podcast_is_subscribed_to_refreshed_and_ended(fixture):
    """Needs the podcast of `pawl demo`, whose feed has another episode each minute."""
    terminal = fixture.terminal(160, 30, PAWL_SERVER=fixture.service.url)
    status, screen = terminal.finish("pawl search --media podcast slack water")
    assert status == 0 and re.search(r"^1  Slack Water ", screen, re.MULTILINE), screen
    terminal.clear()
    status, screen = terminal.finish("pawl subscribe 1 --take latest:1 -l tides --every 2h")
    made = re.search(
        r"^([0-9A-Z]{26})  subscribed   Slack Water: takes the newest item and new ones; 1 taken; next check in [0-9hms]+$", screen,
        re.MULTILINE)
    assert status == 0 and made, screen
    id = made[1]
    assert len(listed(fixture, "-l", "tides")) == len(listed(fixture, "-l", f"subscription:{id}")) == 1
    for line, said in [
        ("pawl subscribe itunes:5000910100 --keep 1", rf"^{id}  exists       Slack Water: .*; its settings are unchanged$"),
        ("pawl subscriptions", rf"^ID +STATE +TAKEN +NEW +CHECKED +NEXT +NAME\n\S*{id[-6:]}  active +\d+ +0 +\d+m?\S*s ago +in [0-9hms]+  Slack Water$"),
        (f"pawl refresh {id[-8:].lower()}", rf"^{id}  checked      Slack Water: (nothing new|\d new items? taken); next check in "),
        (f"pawl unsubscribe {id[-8:]}", rf"^{id}  unsubscribed  Slack Water; its downloads stay$"),
    ]:
        terminal.clear()
        status, screen = terminal.finish(line)
        assert status == 0 and re.search(said, screen, re.MULTILINE), f"{line}\n{screen}"
    left = pawl(fixture, "list", "--ids", "-l", f"subscription:{id}").stdout.split()
    assert left and pawl(fixture, "rm", "--delete-file", *left).returncode == 0
    # The page of the podcast names its feed; a list of posts is no feed.
    for path, expected, said in [("/podcast/5000910100", 0, "Slack Water: takes new items; "), ("/posts", 1, "")]:
        answer = pawl(fixture, "subscribe", fixture.service.upstream + path)
        assert answer.returncode == expected and said in answer.stdout and ESCAPE not in answer.stdout, answer
        assert not expected or "pawl: the first check failed: " in answer.stderr and "next check in" in answer.stdout, answer
    assert json.loads(pawl(fixture, "subscriptions", "--json").stdout.splitlines()[0])["failures"] == 1
    ids = pawl(fixture, "subscriptions", "--ids").stdout.split()
    refreshed = pawl(fixture, "refresh", *ids)
    assert refreshed.returncode == 1 and "/posts: " in refreshed.stderr and "checked      Slack Water" in refreshed.stdout, refreshed
    assert len(ids) == 2 and pawl(fixture, "unsubscribe", *ids).returncode == 0
    # The minute may have had an episode.
    for left in (pawl(fixture, "list", "--ids", "-l", f"subscription:{each}").stdout.split() for each in ids):
        assert not left or pawl(fixture, "rm", "--delete-file", *left).returncode == 0
    for operand, expected, said in [
        ("nowhere:1", 1, "pawl: the ID is 'nowhere:1'; it takes "), ("http://10.0.0.1/", 1, "10.0.0.1"), ("itunes:5000420101", 1, "is not a podcast"),
        ("9", 2, "there is no 9"), ("example.org", 2, "is not a URL"),
    ]:
        refused = pawl(fixture, "subscribe", operand, XDG_STATE_HOME=fixture.directory + "/state")
        assert refused.returncode == expected and said in refused.stderr, refused
    empty = pawl(fixture, "subscriptions")
    assert empty.returncode == 0 and empty.stdout == "" and empty.stderr == "pawl: no subscriptions\n", empty


def queued_downloads_have_a_position_and_can_be_moved(fixture):
    # The host allows four transfers at a time, so the others wait.
    urls = [entity(fixture, 50_000_000, seed, pace=50_000) for seed in range(91, 98)]
    assert pawl(fixture, "add", "-l", "queue", *urls).returncode == 0
    queued = lambda: [download["url"] for download in sorted(
        listed(fixture, "-l", "queue", "--state", "queued"), key=lambda download: download["position"])]
    wait(lambda: queued() == urls[4:], "three that wait")
    last = next(download for download in listed(fixture, "-l", "queue") if download["url"] == urls[6])
    terminal = fixture.terminal(100, 20, PAWL_SERVER=fixture.service.url)
    status, screen = terminal.finish("pawl list -l queue")
    assert status == 0 and all(f"  queued #{place}  " in screen for place in (1, 2, 3)), screen
    terminal.clear()
    status, screen = terminal.finish(f"pawl move {last['id']} 1")
    assert status == 0 and f"{last['id']}  queued #1 " in screen, screen
    assert queued() == [urls[6], urls[4], urls[5]]
    moving = listed(fixture, "-l", "queue", "--state", "downloading")[0]["id"]
    status, screen = terminal.finish(f"pawl move {moving} 1")
    assert status == 1 and "downloading" in screen, screen
    assert pawl(fixture, "rm", *pawl(fixture, "list", "--ids", "-l", "queue").stdout.split()).returncode == 0


def watch_redraws_live_and_takes_keys(fixture):
    terminal = fixture.terminal(100, 16, PAWL_SERVER=fixture.service.url)
    terminal.run("pawl watch; echo status $?")
    screen = terminal.wait_for(r"^pawl http://127.0.0.1:\d+$")
    # A download of another client appears.
    assert pawl(fixture, "add", "-o", "watched.bin", entity(fixture, 7_500_000, seed=31, pace=100_000)).returncode == 0
    terminal.wait_for(r"^  watched.bin +[━╸]+.* \d+% .*left$")
    first = terminal.wait_for(r"1 downloading")
    wait(lambda: terminal.screen() != first, "another screen")
    terminal.type("Down", "p")
    terminal.wait_for(r"^> watched.bin .* paused$")
    terminal.resize(50, 10)
    terminal.wait_for(r"^> watched.bin +\d+%  paused$")
    terminal.resize(100, 16)
    terminal.type("Space")
    terminal.wait_for(r"^> watched.bin .*left$")
    terminal.type("c")
    terminal.wait_for(r"^cancel watched.bin\? y or n$")
    terminal.type("y")
    terminal.wait_for(r"watched.bin .* cancelled$")
    terminal.type("q")
    screen = terminal.wait_for(r"^status 0")
    # The screen is restored, and the terminal accepts lines again.
    assert "pawl watch; echo" in screen and "watched.bin" not in screen, screen
    status, screen = terminal.finish("stty -a | grep -c ' icanon.* echo \\| echo '")
    assert status == 0, screen


def watch_restores_the_terminal_when_a_signal_ends_it(fixture):
    terminal = fixture.terminal(90, 12, PAWL_SERVER=fixture.service.url)
    status, before = terminal.finish("stty -g > before")
    for keys, expected in [(("C-c",), 130), ((), 143)]:
        terminal.clear()
        terminal.run("pawl watch; echo status $?; stty -g > after")
        terminal.wait_for("q quit")
        if keys:
            terminal.type(*keys)
        else:
            os.kill(terminal.child(), signal.SIGTERM)
        terminal.wait_for(rf"^status {expected}$")
        wait(lambda: fixture.path("after").exists() and fixture.path("after").read_text(), "the settings")
        assert fixture.path("after").read_text() == fixture.path("before").read_text()
        assert terminal.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").split() == ["0", "1"]


def watch_continues_after_its_service_returns(fixture):
    service = Service()
    try:
        terminal = fixture.terminal(100, 12, PAWL_SERVER=service.url)
        terminal.run("pawl watch; echo status $?")
        terminal.wait_for("no downloads")
        service.stop()
        terminal.wait_for(r"offline: .*; again in \d+s")
        service.start()
        terminal.wait_for(rf"^pawl {service.url}$")
        url = service.upstream + "/entity?size=1000&seed=1"
        assert pawl(fixture, "add", "-o", "back.bin", url, service=service).returncode == 0
        terminal.wait_for(r"^  back.bin .* completed$")
        terminal.type("q")
        terminal.wait_for("^status 0")
    finally:
        service.close()


def watch_of_chosen_downloads_ends_with_them(fixture):
    url = entity(fixture, 600_000, seed=41, pace=400_000)
    assert pawl(fixture, "add", "-l", "some", "-o", "some.bin", url).returncode == 0
    id = pawl(fixture, "list", "--ids", "-l", "some").stdout.strip()
    answer = pawl(fixture, "watch", id[-10:])
    assert answer.returncode == 0 and re.fullmatch(rf"(?s)(.*\n)?{id}  completed    some.bin\n", answer.stdout), answer
    assert ESCAPE not in answer.stdout, answer
    assert pawl(fixture, "rm", "--delete-file", id).returncode == 0
    answer = pawl(fixture, "watch", id)
    assert answer.returncode == 1 and "pawl: " in answer.stderr, answer


def watch_in_a_pipe_writes_lines_or_events(fixture):
    lines = {}
    children = []
    for flag in ("--json=false", "--json"):
        child = subprocess.Popen(
            [PAWL, "watch", flag], env={"PAWL_SERVER": fixture.service.url, "HOME": fixture.directory}, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        children.append(child)
        lines[flag] = []
        threading.Thread(target=lambda child=child, flag=flag: lines[flag].extend(iter(child.stdout.readline, "")), daemon=True).start()
    try:
        wait(lambda: lines["--json"], "the snapshot")
        assert json.loads(lines["--json"][0])["event"] == "snapshot"
        # A name that would clear the screen if it were written unchanged.
        url = entity(fixture, 1000, seed=51)
        assert pawl(fixture, "add", "-l", "pipe", "-o", "pipe.bin", url).returncode == 0
        wait(lambda: any("completed    pipe.bin" in line for line in lines["--json=false"]), lambda: str(lines["--json=false"]))
        wait(lambda: any('"completed"' in line for line in lines["--json"]), "the event")
        assert all(ESCAPE not in line for line in lines["--json=false"])
    finally:
        for child in children:
            child.terminate()
            assert child.wait(30) == 143
    assert pawl(fixture, "rm", *pawl(fixture, "list", "--ids", "-l", "pipe").stdout.split()).returncode == 0


def watch_ends_without_a_reader(fixture):
    child = subprocess.Popen(
        ["sh", "-c", f"'{PAWL}' watch --json | head -1"], env={"PAWL_SERVER": fixture.service.url, "PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert json.loads(child.stdout.readline())["event"] == "snapshot"
    url = entity(fixture, 1000, seed=81)
    # Some events may be in the pipe before its reader ends.
    try:
        numbers = itertools.count()
        wait(lambda: pawl(fixture, "add", "-l", "nobody", f"{url}&n={next(numbers)}") and child.poll() is not None, "its end")
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.stdout.close()
    pawl(fixture, "rm", *pawl(fixture, "list", "--ids", "-l", "nobody").stdout.split())


def unreachable_and_refusing_services_are_distinguished(fixture):
    secured = Service(token="right")
    try:
        terminal = fixture.terminal(120, 40)
        for line, expected, said in [
            ("pawl list --server http://127.0.0.1:1", 3, "pawl: the service at http://127.0.0.1:1 is unreachable: "),
            ("PAWL_SERVER=http://127.0.0.1:1 pawl watch", 3, "is unreachable: "),
            (f"pawl list --server {fixture.service.upstream}", 3, "is not a Pawl service"),
            (f"pawl list --server {secured.url}", 4, "requires a token: give it with PAWL_TOKEN"),
            (f"PAWL_TOKEN=wrong pawl watch --server {secured.url}", 4, "refuses the given token"),
            (f"PAWL_TOKEN=right pawl list --server {secured.url}", 0, "no downloads"),
            ("pawl list --server nonsense", 2, "'nonsense'"),
            (f"pawl list --token-file /nowhere --server {secured.url}", 2, "token file"),
            (f"pawl list --ca-file /nowhere --server {secured.url}", 2, "/nowhere"),
            (f"pawl search --source nowhere x --server {fixture.service.url}", 1, "pawl: .*'nowhere'"),
        ]:
            terminal.clear()
            status, screen = terminal.finish(line)
            # After too many wrong tokens, the address would be throttled: here it is not.
            assert status == expected and re.search(said, screen), f"{line}\n{screen}"
    finally:
        secured.close()


def hostile_names_are_drawn_as_text(fixture):
    """An error message with text from the origin, on all screens that display it."""
    name = "a\u202egpj\u2028.bin"
    url = entity(fixture, 1000, seed=61)
    answer = pawl(fixture, "add", "-l", "hostile", url + "&n=\u202e\u009b31m")
    assert answer.returncode in (0, 1), answer
    terminal = fixture.terminal(100, 20, PAWL_SERVER=fixture.service.url)
    for line in ("pawl list -l hostile", "pawl add $'http://127.0.0.1:1/\\033]0;owned\\007'", "pawl pause $'\\033[31mX'"):
        status, screen = terminal.finish(f"bash -c {json.dumps(line)}")
    assert terminal.tmux("display-message", "-p", "#{pane_title}").strip() != "owned"
    assert "\u202e" not in terminal.screen(styles=True) and name not in terminal.screen()
    pawl(fixture, "rm", *pawl(fixture, "list", "--ids", "-l", "hostile").stdout.split())


TESTS = [
    downloads_are_added_listed_and_commanded, refusals_are_reported_and_others_continue,
    ids_are_listed_without_a_limit, all_with_a_label_are_commanded_at_once,
    a_folder_is_set_shown_and_selected_by,
    a_search_is_a_table_whose_numbers_can_be_added, the_parts_of_a_work_are_a_list_whose_numbers_can_be_added,
    a_podcast_is_subscribed_to_refreshed_and_ended,
    queued_downloads_have_a_position_and_can_be_moved, watch_redraws_live_and_takes_keys,
    watch_restores_the_terminal_when_a_signal_ends_it, watch_continues_after_its_service_returns, watch_of_chosen_downloads_ends_with_them,
    watch_in_a_pipe_writes_lines_or_events, watch_ends_without_a_reader,
    unreachable_and_refusing_services_are_distinguished, hostile_names_are_drawn_as_text,
]
