"""Runs the tests of the terminal one by one, keeps their last screens, and reports failures."""

import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import time
import traceback

import tests_get
import tests_program
import tests_service
import tests_strangers
from service import SHELF, Service
from terminal import Terminal


class Fixture:
    """The environment of a test: a directory with `pawl` on its path, terminals, and the demo that all tests share."""

    def __init__(self, service, screens, name):
        self.service, self.screens, self.name = service, screens, name
        self.directory = tempfile.mkdtemp(prefix="pawl-terminal-", dir=SHELF)
        os.mkdir(self.directory + "/bin")
        os.symlink(os.path.abspath(os.environ["PAWL_BINARY"]), self.directory + "/bin/pawl")
        self.terminals = []

    def terminal(self, columns=100, rows=30, **environment):
        terminal = Terminal(self.directory, columns, rows, environment)
        self.terminals.append(terminal)
        return terminal

    def path(self, name):
        return pathlib.Path(self.directory, name)

    def close(self):
        for number, terminal in enumerate(self.terminals):
            suffix = f"-{number + 1}" if number else ""
            try:
                pathlib.Path(self.screens, f"{self.name}{suffix}.txt").write_text(terminal.screen() + "\n")
            finally:
                terminal.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--screens", default=os.path.join(os.path.dirname(__file__), "output"))
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    os.makedirs(options.screens, exist_ok=True)
    tests = [test for module in (tests_get, tests_service, tests_program, tests_strangers) for test in module.TESTS]
    tests = [test for test in tests if not options.words or any(word in test.__name__ for word in options.words)]
    failures, begun = 0, time.monotonic()
    service = Service()
    try:
        for test in tests:
            start = time.monotonic()
            fixture = Fixture(service, options.screens, test.__name__)
            try:
                test(fixture)
                outcome = "passed"
            except Exception:
                outcome = "FAILED"
                failures += 1
                traceback.print_exc()
            finally:
                fixture.close()
            print(f"{outcome}  {test.__name__.replace('_', ' ')} ({time.monotonic() - start:.1f} s)", flush=True)
    finally:
        service.close()
    print(f"screens in {options.screens}, {time.monotonic() - begun:.0f} s")
    print(f"{len(tests) - failures} passed, {failures} failed")
    sys.exit(1 if failures or not tests else 0)


if __name__ == "__main__":
    main()
