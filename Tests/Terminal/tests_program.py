"""Completions in real shells, and the manual page in real readers."""

import os
import re
import subprocess

PAWL = os.environ["PAWL_BINARY"]


def output(*command, **more):
    answer = subprocess.run(command, capture_output=True, text=True, timeout=90, **more)
    assert answer.returncode == 0, answer
    return answer.stdout


def completions_work_in_bash(fixture):
    terminal = fixture.terminal(100, 20)
    terminal.run("exec bash --norc --noprofile")
    terminal.run("PS1='$ '; source <(pawl completions bash); clear")
    terminal.wait_for(r"^\$$")
    terminal.type("pawl compl", "Tab")
    terminal.wait_for(r"\$ pawl completions")
    terminal.type("z", "Tab")
    terminal.wait_for(r"\$ pawl completions zsh")
    terminal.type("C-u")
    terminal.type("pawl get --check", "Tab")
    terminal.wait_for(r"\$ pawl get --checksum")
    terminal.type("C-u")
    fixture.path("a list.txt").write_text("")
    terminal.type("pawl get -i a", "Tab")
    terminal.wait_for(r"\$ pawl get -i a\\ list.txt")
    terminal.type("C-u")


def completions_of_bash_offer_identifiers(fixture):
    from tests_service import entity, pawl
    assert pawl(fixture, "add", "--paused", "-l", "complete", entity(fixture, 10, seed=71)).returncode == 0
    id = pawl(fixture, "list", "--ids", "-l", "complete").stdout.strip()
    terminal = fixture.terminal(100, 20, PAWL_SERVER=fixture.service.url)
    terminal.run("exec bash --norc --noprofile")
    terminal.run("PS1='$ '; source <(pawl completions bash); clear")
    terminal.wait_for(r"^\$$")
    terminal.type("pawl rm " + id[:20], "Tab")
    terminal.wait_for(rf"\$ pawl rm {id}")
    terminal.type("Enter")
    terminal.wait_for("removed")
    assert pawl(fixture, "subscribe", "itunes:5000910100").returncode == 0
    id = pawl(fixture, "subscriptions", "--ids").stdout.strip()
    terminal.run("clear")
    terminal.type("pawl unsubscribe " + id[:20], "Tab")
    terminal.wait_for(rf"\$ pawl unsubscribe {id}")
    terminal.type("Enter")
    terminal.wait_for("its downloads stay")


def completions_work_in_zsh(fixture):
    terminal = fixture.terminal(100, 20)
    terminal.run("exec zsh -f")
    terminal.run("PS1='$ '; autoload -U compinit; compinit -u -D; source <(pawl completions zsh); clear")
    terminal.wait_for(r"^\$$")
    terminal.type("pawl compl", "Tab")
    terminal.wait_for(r"\$ pawl completions")
    terminal.type("fi", "Tab")
    terminal.wait_for(r"\$ pawl completions fish")
    terminal.type("C-u")
    terminal.type("pawl get --check", "Tab")
    terminal.wait_for(r"\$ pawl get --checksum")
    terminal.type("C-u")
    terminal.type("pawl list --state retr", "Tab")
    terminal.wait_for(r"\$ pawl list --state retrying")
    terminal.type("C-u")


def completions_work_in_fish(fixture):
    script = fixture.path("pawl.fish")
    script.write_text(output(PAWL, "completions", "fish"))
    environment = {"HOME": fixture.directory, "PATH": fixture.directory + "/bin:" + os.environ["PATH"], "TERM": "xterm"}

    def offers(line):
        return output("fish", "--no-config", "-c", f"source {script}; complete -C '{line}'", env=environment)

    assert re.search(r"^completions\t", offers("pawl compl"), re.MULTILINE)
    assert re.search(r"^--checksum\t", offers("pawl get --check"), re.MULTILINE)
    assert offers("pawl list --state retr").startswith("retrying")
    assert offers("pawl completions z").startswith("zsh")


def the_manual_page_is_clean(fixture):
    page = fixture.path("pawl.1")
    page.write_text(output(PAWL, "man"))
    here = os.path.join(os.path.dirname(__file__), "../../docs/pawl.1")
    assert page.read_text() == open(here, encoding="utf-8").read(), "docs/pawl.1 is not what pawl man writes"
    for command in (["groff", "-man", "-ww", "-Tutf8", "-z", str(page)], ["man", "-l", "--warnings", "-Tutf8", str(page)]):
        answer = subprocess.run(command, capture_output=True, text=True, timeout=90, env={"PATH": os.environ["PATH"], "MANPAGER": "cat", "LC_ALL": "C.UTF-8"})
        assert answer.returncode == 0 and not answer.stderr, answer.stderr
    terminal = fixture.terminal(80, 40)
    terminal.run("pawl man | man -l -Tutf8 - | head -30")
    terminal.wait_for(r"^NAME\n +pawl +- download files")


def help_fits_a_terminal(fixture):
    terminal = fixture.terminal(120, 50)
    status, screen = terminal.finish("pawl help get")
    assert status == 0 and "--checksum ALGORITHM:HEX" in screen and "130 after Ctrl-C" in screen, screen


TESTS = [
    completions_work_in_bash, completions_of_bash_offer_identifiers, completions_work_in_zsh, completions_work_in_fish,
    the_manual_page_is_clean, help_fits_a_terminal,
]
