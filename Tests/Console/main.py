"""Runs the console's tests one after the other in one browser, and says what failed."""

import sys
import time
import traceback

import tests_downloads
import tests_page
import tests_search
from browser import OUTPUT, Browser
from service import Service


def main():
    wanted = sys.argv[1:]
    tests = [test for module in (tests_search, tests_downloads, tests_page) for test in module.TESTS]
    tests += tests_page.PICTURES if wanted else []
    tests = [test for test in tests if not wanted or any(word in test.__name__ for word in wanted)]
    browser, service = Browser(), Service()
    failures = 0
    begun = time.monotonic()
    try:
        for test in tests:
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
                print(f"passed  {name} ({time.monotonic() - start:.1f} s)", flush=True)
            except Exception:
                failures += 1
                browser.shoot("failed-" + test.__name__)
                print(f"FAILED  {name} ({time.monotonic() - start:.1f} s)\n{traceback.format_exc()}", flush=True)
    finally:
        browser.close()
        service.close()
    print(f"{len(tests)} tests, {failures} failed, {time.monotonic() - begun:.0f} s; screenshots in {OUTPUT}")
    sys.exit(1 if failures or not tests else 0)


if __name__ == "__main__":
    main()
