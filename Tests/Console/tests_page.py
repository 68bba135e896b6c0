"""The page as a whole: loading, losing the service, tokens, hostile text, many rows, and how it looks."""

from service import Service, wait

OBSERVE = """
    window.shifts = [];
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) shifts.push(
        [entry.value, entry.sources.map(({ node }) => (node?.outerHTML ?? node?.parentElement?.outerHTML)?.slice(0, 80))]) })
        .observe({ type: "layout-shift", buffered: true });"""


def page_paints_at_once_and_never_shifts(browser, service):
    service.add(service.upstream + "/large/field-recording-1.bin")
    for _ in range(30):
        service.add(service.upstream + f"/entity?size=10&seed={_}")
    wait(lambda: service.call("GET", "/stats")["downloads"]["completed"] == 30, "the small ones are done")
    paints = []
    for _ in range(5):
        browser.open(service.url)
        paints.append(wait(lambda: browser.run("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"), "it is painted"))
        browser.run(OBSERVE)
        wait(lambda: len(browser.rows()) > 5, "the list is there")
        browser.wait_row("field-recording-1.bin" if "field-recording-1.bin" in browser.rows() else browser.rows()[0])
        shifts = browser.run("return window.shifts")
        assert sum(value for value, _ in shifts) == 0, f"the layout shifts: {shifts}"
    total = browser.run("return performance.getEntriesByType('resource').reduce((sum, { decodedBodySize: size, name }) => sum + (name.includes('/console/') ? size : 0), 0)")
    print(f"        first contentful paint: {', '.join(f'{paint:.0f}' for paint in sorted(paints))} ms")
    elsewhere = browser.run("return performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => !name.startsWith(location.origin))")
    assert not elsewhere, elsewhere
    assert total < 80_000, f"{total} bytes of scripts and styles"


def page_outlives_reloads_and_restarts(browser, service):
    service.add(service.upstream + "/large/field-recording-1.bin")
    browser.wait_row("field-recording-1.bin", "downloading", "MB/s")
    browser.driver.refresh()
    browser.wait_row("field-recording-1.bin", "downloading", "MB/s")
    service.stop()
    browser.wait_text("#connection-text", "Offline")
    browser.audit("offline")
    browser.shoot("offline")
    browser.click("button", "Pause field-recording-1.bin")
    browser.wait_text("#toast", "cannot be reached")
    service.start()
    if browser.has("button", "Try now"):
        browser.click("button", "Try now")
    browser.wait_text("#connection-text", "Live")
    browser.wait_row("field-recording-1.bin", "downloading", "MB/s")
    service.call("POST", "/downloads/cancel")
    browser.wait_row("field-recording-1.bin", "cancelled")
    # What went away while nobody was listening is gone when the page is back.
    service.stop()
    browser.wait_text("#connection-text", "Offline")
    service.start()
    service.clear()
    browser.wait_text("#connection-text", "Live")
    wait(lambda: browser.rows() == [], "what is gone is not shown")


def page_changes_settings(browser, service):
    before = service.call("GET", "/settings")
    browser.click("button", "Settings")
    browser.get("dialog", "Settings")
    browser.audit("settings")
    browser.fill("spinbutton", "Downloads at once", "3")
    browser.fill("spinbutton", "Of those, from one host", "2")
    browser.fill("spinbutton", "Connections for a large file", "5")
    browser.fill("spinbutton", "Speed limit in MB/s", "1.5")
    browser.shoot("settings")
    browser.click("button", "Save settings")
    browser.wait_text("#toast", "Settings saved")
    assert service.call("GET", "/settings") == {"maxConcurrent": 3, "maxPerHost": 2, "segments": 5, "speedLimit": 1_500_000}
    service.call("PATCH", "/settings", before)


def page_asks_for_a_token(browser, _):
    service = Service(token="open-sesame")
    try:
        browser.driver.get(service.url)
        browser.get("dialog", "Token")
        browser.audit("the token")
        browser.fill("textbox", "Token", "wrong")
        browser.click("button", "Continue")
        browser.wait_text("#token .error", "not the token")
        browser.fill("textbox", "Token", "open-sesame")
        browser.click("button", "Continue")
        browser.wait_text("#connection-text", "Live")
        browser.driver.refresh()
        browser.wait_text("#connection-text", "Live")
        assert not browser.has("dialog", "Token")
        name = "Prélude No. 7 in A Major"
        browser.fill("searchbox", "Search", name)
        browser.click("button", "Download " + name)
        browser.wait_row(name, "completed")
        browser.click("button", "Play " + name)
        wait(lambda: browser.run("return document.querySelector('#player audio')?.currentTime > 0.05"), "the file plays")
        browser.click("button", "Settings")
        browser.click("button", "Forget token")
        browser.get("dialog", "Token")
    finally:
        browser.driver.get("about:blank")
        service.close()


def page_takes_no_text_for_markup(browser, service):
    hostile = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>\u202egnp.exe"
    track = {"name": hostile, "artist": "<b>bold</b>", "collection": "</bdi><i>", "artworkUrl": "javascript:document.title='owned'",
             "pageUrl": "javascript:document.title='owned'"}
    service.add(service.upstream + "/entity?size=100", track=track, labels=["<u>label</u>", "שלום"])
    service.add(service.upstream + "/entity?size=100&seed=2&fault=404#<script>document.title='owned'</script>",
                labels=["\"'><svg onload=document.title='owned'>"])
    browser.wait_row(hostile, "completed", "<u>label</u>")
    browser.click("button", "Details " + hostile)
    wait(lambda: "<b>bold</b>" in browser.text("#facts"), "the details are told as text")
    assert browser.text("#details-title") == hostile
    inside = browser.run("return document.querySelectorAll('#list script, #list b, #list u, #list img, #details img, #details script').length")
    assert inside == 0, f"{inside} elements came out of text"
    assert "owned" not in browser.run("return document.title")
    assert "owned" not in browser.run("return [...document.links].map(({ href }) => href).join()")
    browser.shoot("hostile")
    blocked = browser.run("""try { document.body.innerHTML = "<p>"; return false } catch { return true }""")
    assert blocked, "the policy lets text become markup"
    browser.complaints()


def page_stays_smooth_with_5000_rows(browser, service):
    for start in range(0, 5000, 1000):
        orders = [{"url": f"{service.upstream}/entity?size=9&seed={number}", "paused": True, "track": {"name": f"track {number}"}}
                  for number in range(start, start + 1000)]
        assert len(service.call("POST", "/downloads/batch", {"downloads": orders})["items"]) == 1000
    browser.open(service.url)
    wait(lambda: browser.text("#summary") == "5,000 downloads", "all are counted")
    elements = browser.run("return document.querySelectorAll('#list *').length")
    assert elements < 2000, f"{elements} elements for 5,000 rows"
    frames = browser.driver.execute_async_script("""
        const done = arguments[0], scroller = document.querySelector("#scroller"), times = [];
        let last = performance.now();
        const step = (now) => {
            times.push(now - last);
            last = now;
            scroller.scrollTop += scroller.scrollHeight / 120;
            if (times.length < 120) requestAnimationFrame(step);
            else done(times.slice(1).sort((a, b) => a - b));
        };
        requestAnimationFrame(step);""")
    print(f"        scrolling through 5,000 rows: median frame {frames[len(frames) // 2]:.1f} ms, 95 % within {frames[len(frames) * 95 // 100]:.1f} ms")
    wait(lambda: browser.run("return Boolean(document.querySelector('#list [aria-rowindex=\"5000\"]'))"), "the last row is reached")
    work = browser.run("""
        const sort = document.querySelector("#sort"), begun = performance.now();
        sort.value = "name";
        sort.dispatchEvent(new Event("input", { bubbles: true }));
        return performance.now() - begun;""")
    print(f"        sorting 5,000 rows by name: {work:.0f} ms")
    wait(lambda: browser.rows()[0] == "track 0", "they are sorted as numbers are")
    browser.fill("searchbox", "Filter downloads", "track 4321")
    wait(lambda: browser.rows() == ["track 4321"], "one is found")
    browser.fill("searchbox", "Filter downloads", " ")
    browser.click("button", "Cancel all")
    browser.click("button", "Cancel them")
    browser.wait_text("#toast", "5,000 changed")
    wait(lambda: service.call("GET", "/stats")["downloads"]["cancelled"] == 5000, "all are cancelled")
    service.stop()
    service.close()
    service.__init__()


def page_fits_every_window(browser, service):
    service.add(service.upstream + "/large/field-recording-1.bin", labels=["nightly"])
    service.add(service.upstream + "/large/field-recording-2.bin", paused=True)
    service.add(service.upstream + "/entity?size=100&fault=404")
    service.add(service.upstream + "/entity?size=123456&disposition=attachment%3Bfilename%3Dreport.pdf")
    browser.wait_row("report.pdf", "completed")
    browser.fill("searchbox", "Search", "prelude")
    browser.wait_text("#search-status", "results")
    fits = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        browser.audit(f"the page in {scheme}")
        for width, height in ((1440, 900), (320, 640), (768, 1024), (2560, 1200)):
            browser.resize(width, height)
            for view in ("search", "downloads"):
                browser.run("location.hash = arguments[0]", view)
                wait(lambda: browser.run(fits), f"nothing is cut off at {width}")
                if width != 768:
                    browser.shoot(f"{view}-{width}-{scheme}")
    browser.resize(320, 640)
    browser.audit("the page at 320")
    browser.click("link", "Search")
    assert browser.get("searchbox", "Search")
    browser.resize(320, 256)
    wait(lambda: browser.run(fits), "nothing is cut off at 400 % of 1280 × 1024")
    browser.resize(1440, 900)
    browser.prefer("light", "reduce")
    assert browser.run("return document.getAnimations().length") == 0
    browser.run("document.documentElement.dir = 'rtl'")
    wait(lambda: browser.run(fits), "nothing is cut off from right to left")
    box = "return document.querySelector(arguments[0]).getBoundingClientRect().x"
    assert browser.run(box, "#search") > browser.run(box, "#downloads")
    browser.shoot("right-to-left")


def picture_for_the_readme(browser, service):
    """Only when asked for by name."""
    browser.resize(1180, 700)
    browser.fill("searchbox", "Search", "suite")
    for _ in range(2):
        name = wait(lambda: browser.run("return document.querySelector('#results [data-do=download]')?.ariaLabel"), "there is a result")
        browser.click("button", name)
        browser.wait_row(name.removeprefix("Download "), "completed")
    service.add(service.upstream + "/entity?size=100&fault=404&x=/report.pdf")
    for number in (1, 2):
        service.add(f"{service.upstream}/large/field-recording-{number}.bin", labels=["nightly"])
    wait(lambda: browser.run("return parseFloat(document.querySelector('#list .bar i').style.inlineSize) > 9"), "there is something to see")
    service.call("POST", f"/downloads/{service.downloads()[1]['id']}/pause")
    browser.wait_row("field-recording-1.bin", "paused")
    wait(lambda: browser.run("return document.querySelector('#toast').className") == "", "nothing covers it")
    browser.shoot("../picture")


TESTS = [page_paints_at_once_and_never_shifts, page_outlives_reloads_and_restarts, page_changes_settings, page_asks_for_a_token,
         page_takes_no_text_for_markup, page_stays_smooth_with_5000_rows, page_fits_every_window]
PICTURES = [picture_for_the_readme]
