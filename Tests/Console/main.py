"""Runs the console's tests in a browser and a service per processor, and reports failures."""

import concurrent.futures
import contextlib
import os
import queue
import signal
import sys
import time
import traceback

import tests_downloads
import tests_page
import tests_search
import tests_subscriptions
import tests_works
from browser import OUTPUT, Browser
from service import Service

# Bytes per second: slow enough for the large files to last as long as any test.
PACE = 2_000_000


def run(test, browser, service):
    """Runs a test with an empty list; returns whether it passed."""
    name = test.__name__.replace("_", " ")
    start = time.monotonic()
    try:
        service.clear()
        service.call("PATCH", "/settings", {"speedLimit": PACE})
        browser.resize(1440, 900)
        browser.prefer()
        browser.complaints()
        browser.open(service.url)
        test(browser, service)
        assert not (complaints := browser.complaints()), f"the browser complains: {complaints}"
    except Exception:
        print(f"FAILED  {name} ({time.monotonic() - start:.1f} s)\n{traceback.format_exc()}", flush=True)
        with contextlib.suppress(Exception):
            browser.shoot("failed-" + test.__name__)
        return False
    print(f"passed  {name} ({time.monotonic() - start:.1f} s)", flush=True)
    return True


def work(tests):
    """Runs tests until none is left; returns the number of passed ones."""
    passed = 0
    if not tests.empty():
        with contextlib.closing(Service("--allow-destination", "127.0.0.1")) as service, contextlib.closing(Browser()) as browser, contextlib.suppress(queue.Empty):
            while True:
                passed += run(tests.get_nowait(), browser, service)
    return passed


def main():
    wanted = sys.argv[1:]
    # The longest tests start first, so that all workers end at about the same time.
    tests = [test for module in (tests_page, tests_works, tests_subscriptions, tests_downloads, tests_search) for test in module.TESTS]
    tests += tests_page.EXTRAS if wanted else []
    tests = [test for test in tests if not wanted or any(word in test.__name__ for word in wanted)]
    waiting = queue.SimpleQueue()
    for test in tests:
        waiting.put(test)

    def end(*_):
        with contextlib.suppress(queue.Empty):
            while True:
                waiting.get_nowait()
        sys.exit("interrupted: the tests that run are the last")
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, end)

    begun = time.monotonic()
    workers = len(os.sched_getaffinity(0))
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        passed = sum(pool.map(work, [waiting] * workers))
    print(f"{time.monotonic() - begun:.0f} s; screenshots in {OUTPUT}")
    print(f"{passed} passed, {len(tests) - passed} failed")
    sys.exit(0 if 0 < passed == len(tests) else 1)


if __name__ == "__main__":
    main()
