"""The page as a whole: loading, loss of the service, tokens, hostile text, many rows, and appearance."""

from service import Service, fetch, wait

# Added to each page before its scripts run.
OBSERVE = """
    window.shifts = [];
    new PerformanceObserver((list) => { for (const entry of list.getEntries()) if (!entry.hadRecentInput) shifts.push(
        [entry.value, entry.sources.map(({ node }) => (node?.outerHTML ?? node?.parentElement?.outerHTML)?.slice(0, 80))]) })
        .observe({ type: "layout-shift", buffered: true });"""
PAINT = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
LARGEST = 88 << 10


def paints(browser, service, times):
    """Opens the page this number of times with downloads in it; returns the milliseconds to its first contentful paint, and to the first of an
    almost empty page."""
    service.add(service.upstream + "/large/field-recording-1.bin")
    for seed in range(30):
        service.add(service.upstream + f"/entity?size=10&seed={seed}")
    wait(lambda: service.call("GET", "/stats")["downloads"]["completed"] == 30, "the small ones are done")
    observer = browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=OBSERVE)["identifier"]
    found, floor = [], []
    for _ in range(times):
        # An almost empty page of the same service: its time is the browser's own.
        browser.driver.get("about:blank")
        browser.driver.get(service.url + "/problems/not-found")
        floor.append(wait(lambda: browser.run(PAINT), "it is painted"))
        browser.open(service.url)
        found.append(wait(lambda: browser.run(PAINT), "it is painted"))
        wait(lambda: len(browser.rows()) > 5, "the list is there")
        wait(lambda: browser.text("#summary") == "31 downloads", "all of it is")
        shifts = browser.run("return window.shifts")
        assert sum(value for value, _ in shifts) == 0, f"the layout shifts: {shifts}"
    browser.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=observer)
    return sorted(found), sorted(floor)


def page_paints_at_once_and_never_shifts(browser, service):
    found, _ = paints(browser, service, 5)
    print(f"        first contentful paint: {', '.join(f'{paint:.0f}' for paint in found)} ms; no layout shift")
    entries = "performance.getEntriesByType('resource')"
    elsewhere = browser.run(f"return {entries}.map(({{ name }}) => name).filter((name) => !name.startsWith(location.origin))")
    assert not elsewhere, elsewhere
    names = browser.run(f"return {entries}.map(({{ name }}) => new URL(name).pathname).filter((name) => name.startsWith('/console/'))")
    sizes = {name: len(fetch(service.url + name)) for name in ["/", "/console/icon.svg", *names]}
    print(f"        {len(sizes)} files, {sum(sizes.values())} bytes")
    assert len(sizes) > 5 and sum(sizes.values()) <= LARGEST, sizes


def page_continues_after_reloads_and_restarts(browser, service):
    service.add(service.upstream + "/large/field-recording-1.bin")
    browser.wait_row("field-recording-1.bin", "downloading", "/s")
    browser.driver.refresh()
    browser.wait_row("field-recording-1.bin", "downloading", "/s")
    service.stop()
    browser.wait_text("#connection-text", "Offline")
    browser.audit("offline")
    browser.shoot("offline")
    browser.click("button", "Pause field-recording-1.bin")
    browser.wait_text("#toast", "is unreachable")
    # The button is visible between two attempts. This one fails as well, so another follows.
    browser.click("button", "Try now")
    service.start()
    browser.wait_text("#connection-text", "Live")
    browser.wait_row("field-recording-1.bin", "downloading", "/s")
    service.call("POST", "/downloads/cancel")
    browser.wait_row("field-recording-1.bin", "cancelled")
    # Downloads that were removed while the page was disconnected are gone when it reconnects.
    service.stop()
    browser.wait_text("#connection-text", "Offline")
    service.start()
    service.clear()
    browser.wait_text("#connection-text", "Live")
    wait(lambda: browser.rows() == [], "what is gone is not shown")


def page_names_a_proxy_that_holds_events_back(browser, _):
    browser.cdp("Fetch.enable", patterns=[{"urlPattern": "*/downloads/events*"}])
    browser.driver.refresh()
    browser.wait_text("#connection-text", "A proxy may hold events back")
    browser.audit("no first event")
    browser.shoot("held-events")
    # Continues the request.
    browser.cdp("Fetch.disable")
    browser.wait_text("#connection-text", "Live")


def page_releases_its_connection(browser, service):
    # A browser opens six connections to a host: cached pages must not hold one.
    for _ in range(7):
        browser.driver.get("about:blank")
        browser.driver.get(service.url)
        browser.wait_text("#connection-text", "Live")
    service.add(service.upstream + "/entity?size=100&disposition=attachment%3Bfilename%3Dhere.bin")
    browser.wait_row("here.bin", "completed")
    for _ in range(2):
        browser.driver.back()
    browser.wait_text("#connection-text", "Live")
    browser.wait_row("here.bin", "completed")


def page_changes_settings(browser, service):
    before = service.call("GET", "/settings")
    browser.click("button", "Settings")
    browser.get("dialog", "Settings")
    browser.audit("settings")
    browser.fill("spinbutton", "Downloads at once", "3")
    browser.fill("spinbutton", "Downloads from one host", "2")
    browser.fill("spinbutton", "Connections for one file", "5")
    browser.fill("spinbutton", "Speed limit in MiB/s", "1.5")
    browser.fill("textbox", "Speed schedule, one entry per line", "mon-fri 08:00-18:00 1M\nsat,sun 22:00-06:00 0")
    browser.click("button", "Save and test webhooks")
    browser.wait_text("#test-results", "There is no webhook")
    webhook = service.upstream + "/nowhere?key=1"
    browser.fill("textbox", "Webhooks, one URL per line", webhook)
    browser.click("button", "Save and test webhooks")
    browser.wait_text("#test-results", "nowhere?key=1: it answered 40")
    browser.audit("a test of webhooks")
    browser.shoot("webhooks")
    browser.fill("textbox", "Webhooks, one URL per line", "ftp://127.0.0.1/")
    browser.click("button", "Save and test webhooks")
    browser.wait_text("#settings .error", "webhooks 1 ")
    browser.fill("textbox", "Webhooks, one URL per line", webhook)
    browser.shoot("settings")
    browser.click("button", "Save settings")
    browser.wait_text("#toast", "Settings saved")
    assert service.call("GET", "/settings") == {"maxConcurrent": 3, "maxPerHost": 2, "segments": 5, "speedLimit": 1_572_864,
                                                "speedSchedule": ["mon-fri 08:00-18:00 1M", "sat,sun 22:00-06:00 0"],
                                                "webhooks": [webhook]}
    service.call("PATCH", "/settings", before)


def page_requests_a_token(browser, _):
    service = Service(token="open-sesame")
    try:
        browser.driver.get(service.url)
        browser.get("dialog", "This service requires a token")
        browser.audit("the token")
        browser.fill("textbox", "Token", "wrong")
        browser.click("button", "Continue")
        browser.wait_text("#token .error", "token is wrong")
        browser.fill("textbox", "Token", "open-sesame")
        browser.click("button", "Continue")
        browser.wait_text("#connection-text", "Live")
        browser.driver.refresh()
        browser.wait_text("#connection-text", "Live")
        assert not browser.has("dialog", "This service requires a token")
        name = "Prélude No. 7 in A Major"
        browser.fill("searchbox", "Search", name)
        browser.click("button", "Download " + name)
        browser.wait_row(name, "completed")
        browser.click("button", "Play " + name)
        playing = "const media = document.querySelector('#player audio'); return media?.currentTime > 0.05 ? media.src : null"
        source = wait(lambda: browser.run(playing), "the file plays")
        assert source.startswith(service.url) and "?ticket=" in source, "the file is loaded piece by piece, with a ticket for the token"
        browser.save(name, service.downloads()[0])
        browser.click("button", "Settings")
        browser.click("button", "Forget token")
        browser.get("dialog", "This service requires a token")
    finally:
        browser.driver.get("about:blank")
        service.close()


def page_with_a_token_for_reading_has_no_controls(browser, _):
    service = Service(token="open-sesame", tokens="wall read look-only\n")
    try:
        add = lambda seed, **members: service.call("POST", "/downloads", {
            "url": service.upstream + f"/entity?size=10&seed={seed}&secret=s3cret", "filename": f"file-{seed}.bin", **members})
        add(1)
        add(2, paused=True)
        browser.driver.get(service.url)
        browser.fill("textbox", "Token", "look-only")
        browser.click("button", "Continue")
        browser.wait_text("#connection-text", "Live, read only")
        browser.wait_row("file-1.bin", "completed")
        browser.wait_row("file-2.bin", "paused")
        for row in ["file-1.bin", "file-2.bin"]:
            browser.click("button", "Details " + row)
            wait(lambda: service.upstream + "/entity" in browser.text("#facts"), "the details are shown")
            assert "s3cret" not in browser.run("return document.documentElement.outerHTML")
            visible = browser.run("return [...document.querySelectorAll('button, input, textarea, select')].filter("
                                  "(control) => control.checkVisibility()).map((control) => control.ariaLabel || control.title || control.name || control.id || control.textContent)")
            for word in ["Pause", "Resume", "Retry", "Cancel", "Remove", "Add", "add", "Save changes", "labels", "priority"]:
                assert not any(word in name for name in visible), f"{word!r} is there: {visible}"
            browser.audit("the details, read only")
            browser.click("button", "Close")
        assert browser.has("button", "Save file-1.bin"), "files can be fetched"
        # Keys and pasted text have no buttons.
        browser.run("document.getElementById('list').focus()")
        for key in ["p", "Delete"]:
            browser.run("document.getElementById('list').dispatchEvent(new KeyboardEvent('keydown', { key: arguments[0], bubbles: true }))", key)
        browser.run("const data = new DataTransfer(); data.setData('text', 'https://a.example/x');"
                    "document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }))")
        assert not browser.has("dialog", "Add links")
        browser.click("button", "Settings")
        browser.get("button", "Forget token")
        assert not browser.has("button", "Save settings")
        browser.audit("the settings, read only")
        browser.shoot("read-only")
        browser.click("button", "Close")
        name = "Prélude No. 7 in A Major"
        browser.fill("searchbox", "Search", name)
        browser.get("button", "Preview " + name)
        assert not browser.has("button", "Download " + name)
        states = sorted(each["state"] for each in service.downloads())
        assert states == ["completed", "paused"], states
    finally:
        browser.driver.get("about:blank")
        service.close()


def page_parses_no_text_as_markup(browser, service):
    hostile = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>\u202egnp.exe"
    track = {"name": hostile, "artist": "<b>bold</b>", "collection": "</bdi><i>", "own": "javascript:document.title='owned'"}
    service.add(service.upstream + "/entity?size=100", track=track, labels=["<u>label</u>", "שלום"])
    service.add(service.upstream + "/missing#<script>document.title='owned'</script>",
                labels=["\"'><svg onload=document.title='owned'>"])
    browser.wait_row(hostile, "completed", "<u>label</u>")
    # Tracks with members of any type, as in records of an unchecked client.
    browser.run("""
        return import(new URL("console/live.js", document.baseURI)).then(({ store }) => {
            for (const [id, download] of [...store.all]) {
                const track = { ...download.track, artworkUrl: "javascript:document.title='owned'", pageUrl: "javascript:document.title='owned'" };
                store.put({ ...download, track, updatedAt: "9999-01-01T00:00:00.000Z" });
                const odd = { name: { toString: 1 }, id: [{}], artist: {}, collection: [], partOf: { a: 1 }, artworkUrl: {} };
                store.put({ ...download, id: `Z${id}`, track: odd, updatedAt: "9999-01-01T00:00:00.000Z" });
            }
        })""")
    wait(lambda: len(browser.rows()) == 4, "the rows of old records are there")
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


def fill(browser, service):
    for start in range(0, 5000, 1000):
        orders = [{"url": f"{service.upstream}/entity?size=9&seed={number}", "paused": True, "track": {"name": f"track {number}"}}
                  for number in range(start, start + 1000)]
        assert len(service.call("POST", "/downloads/batch", {"downloads": orders})["items"]) == 1000
    browser.open(service.url)
    wait(lambda: browser.text("#summary") == "5,000 downloads", "all are counted")


def scroll(browser, pixels, frames):
    """Scrolls by pixels per frame for a number of frames; prints their durations, and returns the 95th percentile."""
    times = browser.driver.execute_async_script("""
        const [pixels, frames, done] = arguments, scroller = document.querySelector("#scroller"), times = [];
        let last = performance.now();
        const step = (now) => {
            times.push(now - last);
            last = now;
            scroller.scrollTop += pixels;
            if (times.length < frames + 10) requestAnimationFrame(step);
            else done(times.slice(10).sort((a, b) => a - b));
        };
        requestAnimationFrame(step);""", pixels, frames)
    middle, slow = times[frames // 2], times[frames * 95 // 100]
    print(f"        scrolling {pixels} pixels a frame: median {middle:.1f} ms a frame, 95 % within {slow:.1f} ms")
    return slow


def page_stays_smooth_with_5000_rows(browser, service):
    fill(browser, service)
    scroll(browser, 100, 20)
    # Every row changes in each frame.
    scroll(browser, 10_000, 40)
    elements = browser.run("return document.querySelectorAll('#list *').length")
    assert elements < 2000, f"{elements} elements for 5,000 rows"
    wait(lambda: browser.run("return Boolean(document.querySelector('#list [aria-rowindex=\"5000\"]'))"), "the last row is reached")
    work = browser.run("""
        const sort = document.querySelector("#sort"), begun = performance.now();
        sort.value = "name";
        sort.dispatchEvent(new Event("input", { bubbles: true }));
        return performance.now() - begun;""")
    print(f"        sorting 5,000 rows by name: {work:.0f} ms")
    wait(lambda: browser.rows()[0] == "track 0", "they are sorted as numbers are")
    browser.shoot("many-rows")
    browser.fill("searchbox", "Filter downloads", "track 4321")
    wait(lambda: browser.rows() == ["track 4321"], "one is found")
    browser.fill("searchbox", "Filter downloads", " ")
    browser.click("button", "Cancel 5,000")
    browser.click("button", "Discard")
    browser.wait_text("#toast", "5,000 changed")
    wait(lambda: service.call("GET", "/stats")["downloads"]["cancelled"] == 5000, "all are cancelled")
    wait(lambda: browser.row("track 0")["state"] == "cancelled", "and the rows say so")
    service.renew()


def page_of_a_phone_opens_on_live_downloads(browser, service):
    browser.resize(390, 800)
    browser.open(service.url)
    browser.wait_text("#connection-text", "Live")
    assert browser.run("return document.querySelector('#search').checkVisibility()"), "without downloads, it opens on the search"
    service.add(service.upstream + "/large/field-recording-1.bin")
    browser.open(service.url)
    wait(lambda: browser.run("return document.querySelector('#downloads').checkVisibility()"), "it opens on the downloads")
    browser.click("link", "Search")
    wait(lambda: browser.run("return document.querySelector('#search').checkVisibility()"), "the search can be shown")


def page_fits_every_window(browser, service):
    browser.shoot("empty")
    service.add(service.upstream + "/large/field-recording-1.bin", labels=["nightly"])
    service.add(service.upstream + "/large/field-recording-2.bin", paused=True)
    service.add(service.upstream + "/missing")
    service.add(service.upstream + "/entity?size=123456&disposition=attachment%3Bfilename%3Dreport.pdf")
    browser.wait_row("report.pdf", "completed")
    browser.fill("searchbox", "Search", "prelude")
    browser.wait_text("#search-status", "results")
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        browser.audit(f"the page in {scheme}")
        for width, height in ((1440, 900), (1024, 768), (390, 844), (320, 640), (768, 1024), (2560, 1200)):
            browser.resize(width, height)
            for view in ("search", "subscriptions", "downloads"):
                browser.run("location.hash = arguments[0]", view)
                browser.wait_fitting(f"{width} pixels, {view}")
                if width != 768:
                    browser.shoot(f"{view}-{width}-{scheme}")
    browser.resize(320, 640)
    browser.audit("the page at 320")
    for opener, name in (("Details report.pdf", "report.pdf"), ("Add links", "Add links"), ("Settings", "Settings")):
        browser.click("button", opener)
        browser.get("dialog", name)
        browser.wait_fitting(f"{name} at 320 pixels")
        browser.shoot(f"dialog-{name.split()[0].lower()}-320")
        browser.click("button", "Close")
    browser.click("link", "Search")
    assert browser.get("searchbox", "Search")
    browser.resize(320, 256)
    browser.wait_fitting("400 % of 1280 × 1024")
    browser.resize(1440, 900)
    browser.prefer("light", "reduce")
    assert browser.run("return getComputedStyle(document.querySelector('#toast')).transitionProperty") == "none"
    browser.run("document.documentElement.dir = 'rtl'")
    browser.wait_fitting("right to left")
    box = "return document.querySelector(arguments[0]).getBoundingClientRect().x"
    assert browser.run(box, "#search") > browser.run(box, "#downloads")
    browser.shoot("right-to-left")


def page_speaks_the_browsers_language(browser, service):
    browser.cdp("Emulation.setLocaleOverride", locale="de-DE")
    try:
        browser.open(service.url)
        service.add(service.upstream + "/large/field-recording-1.bin", paused=True)
        service.add(service.upstream + "/entity?size=1234567&disposition=attachment%3Bfilename%3Dgross.bin")
        browser.wait_row("gross.bin", "completed", "1,1 MiB")
        browser.click("button", "Details gross.bin")
        wait(lambda: "1.234.567 bytes" in browser.text("#facts"), "numbers are grouped as they are there")
    finally:
        browser.cdp("Emulation.setLocaleOverride")


def picture_for_the_readme(browser, service):
    """Runs only by name."""
    service.call("PATCH", "/settings", {"speedLimit": 0})
    browser.resize(1180, 700)
    browser.fill("searchbox", "Search", "suite")
    for _ in range(2):
        name = wait(lambda: browser.run("return document.querySelector('#results [data-do=download]')?.ariaLabel"), "there is a result")
        browser.click("button", name)
        browser.wait_row(name.removeprefix("Download "), "completed")
    service.add(service.upstream + "/missing/report.pdf")
    for number in (1, 2):
        service.add(f"{service.upstream}/large/field-recording-{number}.bin", labels=["nightly"])
    wait(lambda: browser.run("""return [...document.querySelectorAll("#list [data-state=downloading] i")]
        .filter(({ style }) => parseFloat(style.width) > 9).length""") == 2, "there is something to see")
    service.call("POST", f"/downloads/{service.downloads()[1]['id']}/pause")
    browser.wait_row("field-recording-1.bin", "paused")
    browser.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=600, y=20)
    wait(lambda: browser.run("return getComputedStyle(document.querySelector('#toast')).opacity") == "0", "nothing covers it")
    browser.shoot("../picture")


def measure_first_paint_and_scrolling(browser, service):
    """Runs only by name: the limits apply to an idle machine."""
    found, floor = paints(browser, service, 20)
    slow = found[18]
    print(f"        first contentful paint of 20: median {found[10]:.0f} ms, 95 % within {slow:.0f} ms; no layout shift")
    print(f"        that of an empty page: median {floor[10]:.0f} ms, 95 % within {floor[18]:.0f} ms")
    service.clear()
    fill(browser, service)
    steady, flung = scroll(browser, 100, 200), scroll(browser, 2000, 200)
    service.renew()
    assert slow < 200, "the first paint comes too late"
    assert steady < 34 and flung < 100, "scrolling is not smooth"


TESTS = [page_fits_every_window, page_of_a_phone_opens_on_live_downloads, page_stays_smooth_with_5000_rows, page_paints_at_once_and_never_shifts,
         page_continues_after_reloads_and_restarts, page_names_a_proxy_that_holds_events_back, page_releases_its_connection,
         page_changes_settings, page_requests_a_token, page_with_a_token_for_reading_has_no_controls, page_parses_no_text_as_markup, page_speaks_the_browsers_language]
EXTRAS = [picture_for_the_readme, measure_first_paint_and_scrolling]
