"""A terminal of tmux."""

import os
import re
import shlex
import subprocess
import uuid

from service import PATIENCE, wait


class Terminal:
    """A window of a separate tmux server, whose socket is removed with the directory."""

    KEYS = {"Enter", "Tab", "Space", "Up", "Down", "C-c", "C-u"}

    def __init__(self, directory, columns=100, rows=30, environment=None):
        self.socket = f"{directory}/.tmux-{uuid.uuid4().hex[:6]}"
        self.directory = directory
        variables = {"PS1": "$ ", "LC_ALL": "C.UTF-8", "HOME": directory, "XDG_STATE_HOME": directory + "/state"}
        variables.update(environment or {})
        exports = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
        unset = " ".join(f"-u {name}" for name in os.environ if name.startswith("PAWL_") or name in ("NO_COLOR", "ENV"))
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", directory,
                  f"exec env {unset} {exports} PATH={shlex.quote(directory + '/bin:' + os.environ['PATH'])} sh")
        self.tmux("set", "-g", "remain-on-exit", "on")
        self.wait_for(r"\$ *$")

    def tmux(self, *arguments):
        return subprocess.run(["tmux", "-S", self.socket, *arguments], check=True, capture_output=True, text=True).stdout

    def screen(self, styles=False):
        """The text on the screen, without spaces at the ends of lines."""
        text = self.tmux("capture-pane", "-p", *(["-e"] if styles else []))
        return "\n".join(line.rstrip() for line in text.split("\n")).rstrip("\n")

    def type(self, *keys):
        """Types keys by their tmux names, and other text unchanged."""
        for key in keys:
            self.tmux("send-keys", *([] if key in self.KEYS else ["-l"]), "--", key)

    def run(self, line):
        """Types a command line and Return."""
        self.tmux("send-keys", "-l", "--", line)
        self.type("Enter")

    def child(self):
        """The process of the `pawl` in the window."""
        shell = self.tmux("list-panes", "-F", "#{pane_pid}").strip()
        found = lambda: subprocess.run(["pgrep", "-P", shell, "pawl"], capture_output=True, text=True).stdout.split()
        return int(wait(found, "the process")[0])

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def wait_for(self, pattern, limit=PATIENCE):
        """Waits until the screen matches, and returns it."""
        def matching():
            screen = self.screen()
            return screen if re.search(pattern, screen, re.MULTILINE) else None
        return wait(matching, lambda: f"{pattern!r} on the screen\n{self.screen()}", limit)

    def finish(self, line):
        """Runs a command line to its end; returns its exit status and the screen."""
        mark = uuid.uuid4().hex[:6]
        self.run(f"{line}; echo \"status {mark}\" $?")
        return self.end(mark)

    def end(self, mark):
        screen = self.wait_for(rf"^status {mark} \d+")
        return int(re.search(rf"^status {mark} (\d+)", screen, re.MULTILINE)[1]), screen

    def clear(self):
        self.run("clear")
        wait(lambda: self.screen() in ("$", "$ "), "an empty screen")

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], capture_output=True)
