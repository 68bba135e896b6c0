"""Subscriptions: adding, checks, items, settings and removal."""

import contextlib
import json
import tempfile

from selenium.webdriver.common.keys import Keys

from feeds import Feeds
from service import Service, wait

FIELD = "Address of a feed or page"
LIST = "#subscription-list"


def served(test):
    """Gives a test a server of feeds, and opens the view."""
    def run(browser, service):
        with contextlib.closing(Feeds()) as feeds:
            browser.click("link", "Subscriptions")
            test(browser, service, feeds)
    run.__name__ = test.__name__
    return run


def follow(browser, service, feeds, name="The Harbour Tapes", episodes=4, **members):
    """Subscribes to a new feed by the service; returns the subscription once its row is there and has been checked."""
    path = "/" + name.replace(" ", "-")
    created = service.call("POST", "/subscriptions", {"feedUrl": feeds.publish(path, name, episodes, service.upstream), **members})
    wait(lambda: told(service, created)["checkedAt"], "it is checked")
    wait_said(browser, name, "Checked")
    return told(service, created)


def told(service, subscription):
    return service.call("GET", "/subscriptions/" + subscription["id"])


def all_told(service):
    return service.call("GET", "/subscriptions")["items"]


def said(browser, name):
    """The text of a row in the list of subscriptions, or of an item's, without what is opened in it; None if there is none."""
    return browser.run("""const row = [...document.querySelectorAll("#subscription-list .row")]
        .find((row) => row.querySelector(".name").textContent === arguments[0]);
        return row?.querySelector(".what").innerText.replaceAll(/\\n+/g, "\\n") ?? null""", name)


def wait_said(browser, name, part):
    wait(lambda: part in (said(browser, name) or ""), lambda: f"{name!r} says {part!r}, not {said(browser, name)!r}")


def buttons(browser, name):
    """The visible buttons and links that are about this name."""
    return browser.run("""return [...document.querySelectorAll("#subscription-list :is(button, a)")]
        .filter((each) => each.checkVisibility() && each.ariaLabel?.endsWith(" " + arguments[0]))
        .map(({ ariaLabel }) => ariaLabel.slice(0, -arguments[0].length - 1))""", name)


def items_of(browser, name):
    """The names of the listed items."""
    return browser.run("""return [...document.querySelectorAll("#subscription-list [role=list]")]
        .find(({ ariaLabel }) => ariaLabel === "Items of " + arguments[0])
        ?.querySelectorAll(".name").values().map(({ textContent }) => textContent).toArray() ?? []""", name)


@served
def subscriptions_are_added_by_address(browser, service, feeds):
    wait(lambda: browser.text("#subscriptions-status") == "0 subscriptions", "it says that there is none")
    browser.audit("no subscriptions")
    browser.fill("textbox", FIELD, "nonsense")
    browser.click("button", "Subscribe")
    browser.wait_text("#subscribe-note", "'nonsense'")
    assert browser.get("textbox", FIELD).get_attribute("value") == "nonsense", "it can be corrected"
    browser.audit("a refused address")
    address = feeds.publish("/tapes", "The Harbour Tapes", 3, service.upstream)
    # The response comes after the event of the first check.
    browser.run("""const real = window.fetch;
        window.fetch = async (address, options) => {
            const response = await real(address, options);
            if (options?.method === "POST") {
                while (!document.querySelector("#subscription-list").innerText.includes("Checked ")) await new Promise(requestAnimationFrame);
                window.fetch = real;
            }
            return response;
        };""")
    browser.fill("textbox", FIELD, address).send_keys(Keys.ENTER)
    browser.wait_text("#toast", "Subscribed to ")
    wait_said(browser, "The Harbour Tapes", "Active · 0 taken\nChecked ")
    text = said(browser, "The Harbour Tapes")
    assert address in text and " ago · next in " in text, text
    assert browser.text("#subscribe-note") == "" and browser.get("textbox", FIELD).get_attribute("value") == ""
    assert browser.text("#subscriptions-status") == "1 subscription"
    browser.fill("textbox", FIELD, address)
    browser.click("button", "Subscribe")
    browser.wait_text("#toast", "Already subscribed to The Harbour Tapes")
    assert len(all_told(service)) == 1


@served
def subscriptions_are_added_from_results(browser, service, feeds):
    address = feeds.publish("/tapes", "The Harbour Tapes", 3, service.upstream)
    browser.click("link", "Search")
    browser.choose("combobox", "Source", "Feeds")
    browser.fill("searchbox", "Search", address)
    browser.get("button", "Subscribe The Harbour Tapes")
    browser.shoot("subscribe")
    browser.click("button", "Subscribe The Harbour Tapes")
    browser.wait_text("#toast", "Subscribed to ")
    assert not browser.has("button", "Subscribe to this search")
    browser.choose("combobox", "Source", "Internet Archive")
    browser.fill("searchbox", "Search", "tidewater")
    browser.click("button", "Subscribe to this search")
    browser.audit("a search that can be followed")
    wait(lambda: len(all_told(service)) == 2, "both are there")
    sources = [each["source"] for each in all_told(service)]
    assert sources == [{"search": {"source": "archive", "term": "tidewater"}}, {"partsOf": "feed:" + address}], sources
    browser.click("link", "Subscriptions")
    wait(lambda: "Search of the Internet Archive for “tidewater”" in browser.text(LIST), "it is told in words")
    wait_said(browser, "The Harbour Tapes", "Active")


@served
def subscriptions_tell_failures_in_words(browser, service, feeds):
    for path, status in [("/error", 500), ("/gone", 410)]:
        service.call("POST", "/subscriptions", {"feedUrl": feeds.fail(path, status)})
    feeds.publish("/torn", "A torn feed", 4, service.upstream)
    status, text = feeds.documents["/torn"]
    feeds.documents["/torn"] = (status, text[:len(text) // 2])
    service.call("POST", "/subscriptions", {"feedUrl": feeds.url("/torn")})
    wait_said(browser, feeds.url("/error"), "500")
    wait_said(browser, feeds.url("/gone"), "Gone")
    wait_said(browser, "A torn feed", "Warning: ")
    browser.click("button", "Refresh " + feeds.url("/error"))
    browser.wait_text("#toast", "Checked ")
    wait_said(browser, feeds.url("/error"), "2 failures in a row")
    assert "resume" not in buttons(browser, feeds.url("/error")) and "Resume" in buttons(browser, feeds.url("/gone"))
    browser.audit("failures")
    browser.shoot("subscriptions-failures")
    feeds.publish("/gone", "Back again", 2, service.upstream)
    browser.click("button", "Resume " + feeds.url("/gone"))
    wait_said(browser, "Back again", "Active")


@served
def subscriptions_are_checked_paused_and_resumed(browser, service, feeds):
    name = "The Harbour Tapes"
    subscription = follow(browser, service, feeds, name, 4, take={"latest": 2})
    wait_said(browser, name, "2 taken")
    feeds.publish("/The-Harbour-Tapes", name, 5, service.upstream)
    browser.click("button", "Refresh " + name)
    wait_said(browser, name, "3 taken")
    browser.wait_row("Episode 4", "completed")
    browser.click("button", "Pause " + name)
    wait_said(browser, name, "Paused")
    feeds.publish("/The-Harbour-Tapes", name, 7, service.upstream)
    browser.click("button", "Refresh " + name)
    wait_said(browser, name, "2 new")
    browser.click("button", "Open " + name)
    wait_said(browser, "Episode 6", "New: taken on resumption")
    assert buttons(browser, "Episode 6") == ["Take", "Skip"], buttons(browser, "Episode 6")
    browser.click("button", "Skip Episode 6")
    wait_said(browser, "Episode 6", "Skipped: by hand")
    wait_said(browser, name, "1 new")
    browser.click("button", "Resume " + name)
    wait_said(browser, "Episode 5", "Taken")
    wait_said(browser, name, "Active")
    assert told(service, subscription)["items"] == {"new": 0, "taken": 4, "skipped": 3, "expired": 0}
    assert said(browser, "Episode 6").startswith("Episode 6\nSkipped: by hand")


@served
def subscriptions_open_into_their_items(browser, service, feeds):
    name = "The Harbour Tapes"
    subscription = follow(browser, service, feeds, name, 120, take={"latest": 1})
    browser.click("button", "Open " + name)
    wait(lambda: len(items_of(browser, name)) == 50, "a page of items is there")
    browser.wait_text(LIST, "50 of 120 items")
    assert items_of(browser, name)[:2] == ["Episode 119", "Episode 118"]
    for number in (100, 120):
        browser.click("button", "More items")
        wait(lambda: len(items_of(browser, name)) == number, f"there are {number}")
    assert not browser.has("button", "More items") and items_of(browser, name)[-1] == "Episode 0"
    wait_said(browser, "Episode 118", "Skipped: older than the subscription")
    assert (buttons(browser, "Episode 118"), buttons(browser, "Episode 119")) == (["Take"], ["Show download of"])
    # The focus stays where it is.
    browser.get("button", "Take Episode 117").send_keys(Keys.ENTER)
    wait_said(browser, "Episode 117", "Taken · completed")
    wait_said(browser, name, "2 taken")
    assert len(items_of(browser, name)) == 120, "the others are still there"
    browser.audit("items")
    browser.shoot("items")
    for width in (1440, 600):
        browser.resize(width, 900)
        browser.run("location.hash = 'subscriptions'")
        browser.fill("searchbox", "Filter downloads", "nothing like it") if width == 1440 else None
        browser.click("link", "Show download of Episode 119")
        wait(lambda: browser.current() == "Episode 119", "its download is the current one")
        assert browser.run("return document.querySelector('#filter').value") == ""
    browser.resize(1440, 900)
    browser.run("location.hash = 'subscriptions'")
    service.add(service.upstream + "/entity?size=9&x=/other.bin")
    wait(lambda: len(browser.rows()) >= 3, "another download is there")
    browser.click("button", "Downloads " + name)
    wait(lambda: browser.text("#summary") == "2 downloads", "only its downloads are shown")
    assert len(service.downloads("&label=subscription:" + subscription["id"])) == 2
    browser.click("button", "Open " + name)
    wait(lambda: items_of(browser, name) == [], "it closes")


@served
def subscriptions_have_settings(browser, service, feeds):
    name = "The Harbour Tapes"
    subscription = follow(browser, service, feeds, name, every=5400, include=["*a, b*"])
    # What the page sends.
    browser.run("""window.sent = [];
        const usual = window.fetch;
        window.fetch = (path, options) => {
            if (options?.method !== "GET") sent.push([options.method, String(path), options.body ?? null]);
            return usual(path, options);
        }""")
    browser.click("button", "Open " + name)
    browser.click("button", "Settings " + name)
    browser.get("dialog", name)
    browser.audit("settings of a subscription")
    value = lambda role, label: browser.get(role, label).get_attribute("value")
    assert (value("spinbutton", "Check every"), value("combobox", "Unit")) == ("90", "60")
    assert not browser.has("spinbutton", "Number of the newest")
    browser.click("button", "Save settings")
    wait(lambda: not browser.has("dialog", name), "the dialog closes")
    assert browser.run("return sent") == [], "nothing has changed"
    browser.click("button", "Settings " + name)
    browser.fill("spinbutton", "Check every", "2")
    browser.choose("combobox", "Unit", "hours")
    browser.fill("spinbutton", "Keep the newest", "20")
    browser.fill("textbox", "Template for files", "{date} {nonsense}")
    browser.shoot("subscription-settings")
    browser.click("button", "Save settings")
    browser.wait_text("#subscription .error", "{nonsense}")
    assert value("textbox", "Template for files") == "{date} {nonsense}" and value("spinbutton", "Keep the newest") == "20", "it can be corrected"
    assert told(service, subscription)["every"] == 5400
    browser.audit("refused settings")
    browser.fill("textbox", "Template for files", "{date} {title}")
    browser.run("sent.length = 0")
    browser.click("button", "Save settings")
    wait(lambda: not browser.has("dialog", name), "the dialog closes")
    (method, path, body), = browser.run("return sent")
    assert (method, path) == ("PATCH", service.url + subscription["links"]["self"])
    assert json.loads(body) == {"every": 7200, "keep": 20, "naming": {"folder": None, "file": "{date} {title}"}}, body
    browser.click("button", "Settings " + name)
    browser.choose("combobox", "Take", "the newest, too")
    browser.fill("spinbutton", "Number of the newest", "7")
    browser.fill("spinbutton", "Keep the newest", Keys.DELETE)
    browser.fill("textbox", "Only names like, one per line", "*one*\n*two, three*")
    browser.fill("textbox", "No names like, one per line", "*trailer*")
    browser.fill("textbox", "Folder", "shows/tapes")
    browser.fill("textbox", "Labels", "alpha, beta")
    browser.fill("textbox", "Template for files", Keys.DELETE)
    browser.click("checkbox", "Paused")
    browser.click("button", "Save settings")
    wait(lambda: told(service, subscription)["state"] == "paused", "it is paused as well")
    after = told(service, subscription)
    expected = {"every": 7200, "take": {"latest": 7}, "keep": None, "include": ["*one*", "*two, three*"], "exclude": ["*trailer*"],
                "folder": "shows/tapes", "labels": ["alpha", "beta"], "naming": None, "priority": 0, "speedLimit": 0}
    assert {member: after[member] for member in expected} == expected, after
    wait_said(browser, name, "Paused")


@served
def subscriptions_are_removed(browser, service, feeds):
    follow(browser, service, feeds, "The Harbour Tapes", take={"latest": 1})
    follow(browser, service, feeds, "The Mill Stories", take={"latest": 2})
    wait(lambda: service.call("GET", "/stats")["downloads"]["completed"] == 3, "all is fetched")
    for name in ("The Harbour Tapes", "The Mill Stories"):
        browser.click("button", "Open " + name)
    browser.click("button", "Remove The Harbour Tapes")
    browser.get("alertdialog", "Remove The Harbour Tapes?")
    browser.audit("a question about a subscription")
    browser.click("button", "Keep")
    assert len(all_told(service)) == 2
    browser.click("button", "Remove The Harbour Tapes")
    browser.click("button", "Remove")
    wait(lambda: said(browser, "The Harbour Tapes") is None, "its row is gone")
    assert len(service.downloads()) == 3, "its download stays"
    assert browser.run("return document.activeElement.ariaLabel") == "Open The Mill Stories", "the focus is not lost"
    browser.click("button", "Remove The Mill Stories")
    browser.click("checkbox", "Also remove its downloads and files")
    browser.click("button", "Remove")
    wait(lambda: browser.text("#subscriptions-status") == "0 subscriptions", "none is left")
    wait(lambda: len(service.downloads()) == 1, "its downloads are gone")


@served
def subscriptions_follow_events(browser, service, feeds):
    subscription = follow(browser, service, feeds)
    changed = {**subscription, "name": "Another name", "items": {**subscription["items"], "taken": 77}}
    # In one script: otherwise the list may be read between.
    seen = browser.driver.execute_async_script("""
        const [changed, done] = arguments, seen = [];
        import(new URL("console/live.js", document.baseURI)).then(({ store }) => {
            const list = document.querySelector("#subscription-list");
            for (const [name, detail] of [["subscription", changed], ["subscription-removed", { id: changed.id }], ["subscription", changed]]) {
                store.dispatchEvent(new CustomEvent(name, { detail }));
                seen.push(list.innerText);
            }
            done(seen);
        })""", changed)
    assert "Another name" in seen[0] and "77 taken" in seen[0] and seen[1] == "" and "Another name" in seen[2], seen
    # A new stream begins with all of them.
    service.stop()
    browser.wait_text("#connection-text", "Offline")
    service.start()
    wait_said(browser, "The Harbour Tapes", "0 taken")
    service.call("DELETE", "/subscriptions/" + subscription["id"])
    wait(lambda: browser.text(LIST) == "", "what another client removed is gone")


@served
def subscriptions_parse_no_text_as_markup(browser, service, feeds):
    hostile = "<img src=x onerror=document.title='owned'>"
    feeds.publish("/hostile", hostile.replace("<", "&lt;"), 2, service.upstream, title="<b>{}</b><script>document.title='owned'</script>")
    service.call("POST", "/subscriptions", {"feedUrl": feeds.url("/hostile"), "take": "all"})
    wait(lambda: "2 taken" in browser.text(LIST), "it is checked")
    browser.run("document.querySelector('#subscription-list [data-do=open]').click()")
    browser.wait_text(LIST, "2 of 2 items")
    assert browser.run("return document.querySelectorAll('#subscriptions :is(img, b, script)').length") == 0
    assert "owned" not in browser.run("return document.title")


@served
def subscriptions_fit_every_window(browser, service, feeds):
    long = "An extraordinarily long name of a podcast about everything and nothing, " * 5
    follow(browser, service, feeds, take={"latest": 1})
    service.call("POST", "/subscriptions", {"feedUrl": feeds.publish("/long", long, 5, service.upstream, title="W" * 150 + " {}")})
    service.call("POST", "/subscriptions", {"feedUrl": feeds.fail("/" + "w" * 300, 500)})
    wait(lambda: "500" in browser.text(LIST) and "extraordinarily" in browser.text(LIST), "all are checked")
    for number in range(3):
        browser.run("document.querySelectorAll('#subscription-list > .row > .do > [data-do=open]')[arguments[0]].click()", number)
    loaded = "return [...document.querySelectorAll('.work [role=status]')].map(({ textContent }) => textContent)"
    wait(lambda: browser.run(loaded) == ["No items yet.", "5 of 5 items", "4 of 4 items"], "all are open")
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        browser.audit(f"subscriptions in {scheme}")
        for width, height in ((1440, 900), (1280, 800), (768, 1024), (390, 844), (320, 640)):
            browser.resize(width, height)
            browser.wait_fitting(f"{width} pixels, subscriptions")
            browser.shoot(f"subscriptions-{width}-{scheme}")
            cut = browser.run("""const list = document.querySelector("#subscribed").getBoundingClientRect();
                return [...document.querySelectorAll("header *, #subscriptions *")].filter((each) => each.checkVisibility())
                    .filter((each) => each.getBoundingClientRect().right > Math.max(list.right, innerWidth) + 1).map((each) => each.outerHTML.slice(0, 99))""")
            assert not cut, f"cut off at {width} pixels: {cut}"
    browser.audit("subscriptions at 320 pixels")
    browser.run("document.querySelector('#subscription-list [data-do=settings]').click()")
    browser.wait_fitting("settings at 320 pixels")
    browser.shoot("subscription-settings-320")


def subscriptions_with_a_token_for_reading_have_no_controls(browser, _):
    service = Service("--allow-destination", "127.0.0.1", token="open-sesame", tokens="wall read look-only\n")
    try:
        with contextlib.closing(Feeds()) as feeds:
            address = feeds.publish("/tapes", "The Harbour Tapes", 3, service.upstream)
            feeds.documents["/tapes?key=s3cret"] = feeds.documents["/tapes"]
            created = service.call("POST", "/subscriptions", {"feedUrl": address + "?key=s3cret", "take": {"latest": 1}})
            wait(lambda: told(service, created)["items"]["taken"] == 1, "it is checked")
            browser.driver.get(service.url + "#subscriptions")
            browser.fill("textbox", "Token", "look-only")
            browser.click("button", "Continue")
            browser.wait_text("#connection-text", "Live, read only")
            wait_said(browser, "The Harbour Tapes", "1 taken")
            browser.click("button", "Open The Harbour Tapes")
            wait(lambda: len(items_of(browser, "The Harbour Tapes")) == 3, "it opens all the same")
            assert "s3cret" not in browser.run("return document.documentElement.outerHTML")
            visible = browser.run("return [...document.querySelectorAll('#subscriptions :is(button, a, input)')].filter((each) => each.checkVisibility())"
                                  ".map((each) => each.ariaLabel || each.textContent)")
            assert visible == ["Export", "Open The Harbour Tapes", "Downloads The Harbour Tapes", "Show download of Episode 2"], visible
            browser.audit("subscriptions, read only")
            browser.shoot("subscriptions-read-only")
    finally:
        browser.driver.get("about:blank")
        service.close()


@served
def subscriptions_are_imported_and_exported(browser, service, feeds):
    addresses = [feeds.publish(f"/{number}", f"Show {number}", 2, service.upstream) for number in range(3)]
    service.call("POST", "/subscriptions", {"feedUrl": addresses[0]})
    outlines = "".join(f'<outline type="rss" text="Show" xmlUrl="{address}"/>' for address in [*addresses, "ftp://example.org/"])
    with tempfile.NamedTemporaryFile("w", suffix=".opml") as file:
        file.write(f'<opml version="2.0"><body>{outlines}</body></opml>')
        file.flush()
        browser.run("return document.querySelector('#opml-file')").send_keys(file.name)
        browser.wait_text("#subscribe-note", "2 added, 1 already there, 1 refused: 'xmlUrl' is 'ftp://example.org/'")
    wait_said(browser, "Show 2", "Checked")
    with browser.saving() as directory:
        browser.click("button", "Export")
        saved = directory / "subscriptions.opml"
        wait(saved.exists, "the file is saved")
        assert all(address in saved.read_text() for address in addresses), saved.read_text()


TESTS = [subscriptions_are_imported_and_exported, subscriptions_fit_every_window, subscriptions_open_into_their_items, subscriptions_have_settings,
         subscriptions_are_checked_paused_and_resumed, subscriptions_tell_failures_in_words, subscriptions_are_removed,
         subscriptions_follow_events, subscriptions_are_added_by_address, subscriptions_are_added_from_results,
         subscriptions_parse_no_text_as_markup, subscriptions_with_a_token_for_reading_have_no_controls]
