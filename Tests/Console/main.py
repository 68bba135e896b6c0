"""Runs the console's tests one after the other in one browser, and says what failed."""

import contextlib
import sys
import time
import traceback

import tests_downloads
import tests_page
import tests_search
from browser import OUTPUT, Browser
from service import Service


def run(test, browser, service):
    """Runs a test with nothing on the list; returns whether it passed."""
    name = test.__name__.replace("_", " ")
    start = time.monotonic()
    try:
        service.clear()
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


def main():
    wanted = sys.argv[1:]
    tests = [test for module in (tests_search, tests_downloads, tests_page) for test in module.TESTS]
    tests += tests_page.EXTRAS if wanted else []
    tests = [test for test in tests if not wanted or any(word in test.__name__ for word in wanted)]
    begun = time.monotonic()
    with contextlib.closing(Service("--speed-limit", "2000000")) as service, contextlib.closing(Browser()) as browser:
        passed = sum(run(test, browser, service) for test in tests)
    print(f"{time.monotonic() - begun:.0f} s; screenshots in {OUTPUT}")
    print(f"{passed} passed, {len(tests) - passed} failed")
    sys.exit(0 if 0 < passed == len(tests) else 1)


if __name__ == "__main__":
    main()
