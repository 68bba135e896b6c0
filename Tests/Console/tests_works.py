"""Works: opened into their parts, ordered as a whole, and grouped in the list."""

import contextlib
import urllib.parse

from selenium.webdriver.common.keys import Keys

from origin import Origin
from service import Service, wait

WORK = "archive:tidewater-soundings-2023"
HEAD = "#list .row[aria-expanded]"
# Bytes per second: slow enough that no part ends before the work is paused and cancelled as a whole.
CRAWL = 200_000


def parts(service, *formats):
    """The service's response for the work: its name, all parts in these formats, and the formats."""
    query = urllib.parse.urlencode([("id", WORK), *(("format", name) for name in formats)])
    found = service.call("GET", "/search/parts?" + query)
    return found["of"]["name"], found["results"], found["formats"]


def search(browser, service):
    """Finds the work; returns its name."""
    name, *_ = parts(service)
    browser.choose("combobox", "Source", "Internet Archive")
    browser.fill("searchbox", "Search", "tidewater")
    wait(lambda: browser.run("return [...document.querySelectorAll('#results button')].some(({ ariaLabel }) => ariaLabel === arguments[0])", "Open " + name),
         "the work is found")
    return name


def order(service, **members):
    """Downloads all parts; returns the work's name and the number of parts."""
    name, results, _ = parts(service)
    answer = service.call("POST", "/downloads/batch", {"partsOf": WORK, **members})
    assert [each["status"] for each in answer["items"]] == [201] * len(results), answer
    return name, len(results)


def listed(browser):
    """The names of the visible parts."""
    return browser.run("return [...document.querySelectorAll('.work .name')].map(({ textContent }) => textContent)")


def states(service):
    return {each["state"] for each in service.downloads("&label=" + WORK)}


def in_list(browser, name):
    """Clicks a button of the list: results may have one with the same name."""
    def clicked():
        return browser.run("""const button = [...document.querySelectorAll("#list button")].find((each) => each.ariaLabel === arguments[0] && !each.hidden);
            button?.click();
            return Boolean(button)""", name)
    wait(clicked, f"the list has the button {name!r}")


def works_open_into_their_parts(browser, service):
    name = search(browser, service)
    _, results, formats = parts(service)
    expected = [f"{each['number']}. {each['name']}" for each in results]
    browser.click("button", "Open " + name)
    wait(lambda: listed(browser) == expected, "the parts are shown, in order and numbered")
    assert browser.get("button", "Open " + name).get_attribute("aria-expanded") == "true"
    assert browser.has("list", "Parts of " + name)
    browser.wait_text(".work [role=status]", f"{len(results)} of {len(results)} parts · ")
    first = browser.run("return document.querySelector('.work .about').textContent")
    assert results[0]["format"] in first and "iB" in first and ":" in first, first
    offered = browser.run("return [...document.querySelectorAll('.work option')].map(({ text }) => text)")
    assert len(offered) == 1 + len(formats), offered
    for each in formats:
        assert any(text.startswith(f"{each['name']} · {each['count']} file") and text.endswith("B") for text in offered), (each, offered)
    browser.audit("the parts of a work")
    browser.shoot("parts")
    other = next(each for each in formats if not each["selected"] and each["count"] > 1)
    _, others, _ = parts(service, other["name"])
    option = next(text for text in offered if text.startswith(other["name"] + " · "))
    browser.choose("combobox", "Format of " + name, option)
    wait(lambda: other["name"] in browser.text(".work .about"), "they come in another format")
    assert listed(browser) == [f"{each['number']}. {each['name']}" for each in others]
    part = others[1]
    browser.click("button", "Download " + part["name"])
    browser.wait_row(part["name"])
    download, = service.downloads()
    assert (download["url"], download["labels"], download["checksum"]) == (part["downloadUrl"], [WORK], part["checksum"]), download
    assert download["folder"] == WORK.removeprefix("archive:"), download
    wait(lambda: browser.run("return document.querySelector('.work .row [data-state], .work .row:nth-child(2)').dataset.state") != "none",
         "the part shows the state of its download")
    assert browser.run(f"return document.querySelectorAll('{HEAD}').length") == 0, "one alone is no group"
    for width in (1440, 320):
        browser.resize(width, 800)
        browser.wait_fitting(f"{width} pixels with an open work")
        browser.shoot(f"parts-{width}")
    browser.resize(1440, 900)
    browser.click("button", "Open " + name)
    wait(lambda: listed(browser) == [], "it closes again")


def works_are_downloaded_in_a_format(browser, service):
    service.call("PATCH", "/settings", {"speedLimit": 0})
    name = search(browser, service)
    _, _, formats = parts(service)
    chosen = next(each for each in formats if not each["selected"] and each["count"] > 1)
    browser.click("button", "Open " + name)
    option = wait(lambda: browser.run("""return [...document.querySelectorAll(".work option")].map(({ text }) => text)
        .find((text) => text.startsWith(arguments[0]))""", chosen["name"] + " · "), "the formats are there")
    browser.choose("combobox", "Format of " + name, option)
    wait(lambda: chosen["name"] in browser.text(".work .about"), "they come in the format")
    number = chosen["count"]
    browser.click("button", "Download all of " + name)
    browser.wait_text(".work [role=status]", f"{number} added")
    browser.wait_row(name, "completed", f"{number} of {number} completed")
    records = service.downloads("&label=" + WORK)
    assert len(records) == number and all(each["track"]["format"] == chosen["name"] for each in records), records
    assert sum(each["bytesTotal"] for each in records) == chosen["bytes"]
    wait(lambda: browser.run("return document.querySelectorAll('.work [data-state=completed]').length") == number, "the parts say so")
    browser.click("button", "Download all of " + name)
    browser.wait_text(".work [role=status]", f"{number} existing")
    browser.audit("a work that is done")
    browser.shoot("work-done")
    # Grouped downloads are in the work's order.
    tracks = [each["name"] for each in parts(service, chosen["name"])[1]]
    assert browser.rows() == [name, *tracks], browser.rows()


def works_are_commanded_as_a_whole(browser, service):
    service.call("PATCH", "/settings", {"speedLimit": CRAWL})
    service.add(service.upstream + "/large/field-recording-1.bin", paused=True)
    name, number = order(service)
    alone = lambda: next(each["state"] for each in service.downloads() if not each["track"])
    row = browser.wait_row(name, "downloading", " left")
    assert f"0 of {number} completed" in row["text"] and " of " in row["status"] and "iB" in row["status"], row
    assert 0 <= float(browser.run(f"return document.querySelector('{HEAD} [role=progressbar]').ariaValueNow")) < 100
    browser.audit("a work in the list")
    browser.shoot("work")
    in_list(browser, "Pause " + name)
    browser.wait_row(name, "paused")
    assert states(service) == {"paused"}
    in_list(browser, "Resume " + name)
    browser.wait_row(name, "downloading")
    assert "paused" not in states(service) and alone() == "paused", "only those of the work go on"
    in_list(browser, "Open " + name)
    wait(lambda: browser.rows() == [name, "field-recording-1.bin"], "its downloads are hidden")
    assert browser.text("#summary") == f"{number + 1} downloads", "they are counted all the same"
    in_list(browser, "Open " + name)
    wait(lambda: len(browser.rows()) > 5, "they are back")
    in_list(browser, "Cancel " + name)
    browser.get("alertdialog", f"Cancel {number} downloads?")
    browser.click("button", "Keep")
    assert "cancelled" not in states(service)
    in_list(browser, "Cancel " + name)
    browser.click("button", "Discard")
    browser.wait_row(name, "cancelled")
    assert states(service) == {"cancelled"} and alone() == "paused"
    # Bulk commands by the work's label apply to all parts.
    browser.run("document.querySelector('#list .label').click()")
    wait(lambda: browser.text("#summary") == f"{number} downloads", "only those of the work are shown")
    browser.fill("searchbox", "Filter downloads", " ")
    in_list(browser, "Remove " + name)
    browser.click("button", "Remove")
    wait(lambda: browser.rows() == ["field-recording-1.bin"], "they are gone")
    assert len(service.downloads()) == 1


def works_fail_and_are_retried_as_a_whole(browser, service):
    track = {"name": "part", "collection": "A work", "partOf": "archive:a-work"}
    with contextlib.closing(Origin()) as origin:
        for name, status in (("1.bin", 404), ("2.bin", 404), ("3.bin", 0)):
            origin.set(name=name, status=status)
            service.add(origin.url(9, name), track=track, labels=["archive:a-work"])
        browser.wait_row("A work", "failed", "1 of 3 completed")
        for name in ("1.bin", "2.bin"):
            origin.set(name=name, status=0)
        in_list(browser, "Retry A work")
        browser.wait_row("A work", "completed", "3 of 3 completed")


def works_by_keyboard_only(browser, service):
    service.call("PATCH", "/settings", {"speedLimit": CRAWL})
    name = search(browser, service)
    press = lambda *keys: browser.driver.switch_to.active_element.send_keys(*keys)
    browser.get("searchbox", "Search").click()
    focused = lambda: browser.run("return document.activeElement.ariaLabel")

    def tab_to(label):
        for _ in range(60):
            if focused() == label:
                return
            press(Keys.TAB)
        raise AssertionError(f"Tab does not lead to {label!r}")
    tab_to("Open " + name)
    press(Keys.ENTER)
    wait(lambda: listed(browser), "Enter opens it")
    tab_to("Format of " + name)
    tab_to("Download all of " + name)
    press(Keys.ENTER)
    browser.wait_row(name, "downloading")
    number = len(service.downloads())
    browser.run("document.querySelector('#list').focus()")
    press(Keys.HOME)
    wait(lambda: browser.current() == name, "the group is the first row")
    press(Keys.ARROW_LEFT)
    wait(lambda: browser.rows() == [name], "Left closes it")
    expanded = lambda: browser.run(f"return document.querySelector('{HEAD}').ariaExpanded")
    assert expanded() == "false"
    press(Keys.ARROW_RIGHT)
    wait(lambda: len(browser.rows()) == number + 1 and expanded() == "true", "Right opens it")
    press(Keys.ENTER)
    wait(lambda: browser.rows() == [name], "Enter closes it as well")
    press("p")
    browser.wait_row(name, "paused")
    press("p")
    browser.wait_row(name, "downloading")
    press(Keys.DELETE)
    browser.get("alertdialog", f"Cancel {number} downloads?")
    press(Keys.TAB)
    press(Keys.ENTER)
    browser.wait_row(name, "cancelled")
    press(Keys.DELETE)
    browser.get("alertdialog", f"Remove {number} downloads?")
    browser.click("button", "Remove")
    wait(lambda: browser.rows() == [], "they are gone")


def works_have_no_controls_with_a_token_for_reading(browser, _):
    service = Service(token="open-sesame", tokens="wall read look-only\n")
    try:
        name, _ = order(service, paused=True)
        browser.driver.get(service.url)
        browser.fill("textbox", "Token", "look-only")
        browser.click("button", "Continue")
        browser.wait_text("#connection-text", "Live, read only")
        browser.wait_row(name, "paused")
        search(browser, service)
        browser.run("[...document.querySelectorAll('#results button')].find(({ ariaLabel }) => ariaLabel === arguments[0]).click()", "Open " + name)
        wait(lambda: listed(browser), "a work opens all the same")
        visible = browser.run("return [...document.querySelectorAll('button')].filter((each) => each.checkVisibility()).map((each) => each.ariaLabel || each.textContent)")
        for word in ["Pause", "Resume", "Cancel", "Remove", "Download", "Retry"]:
            assert not any(word in each for each in visible), f"{word!r} is there: {visible}"
        browser.run("document.getElementById('list').focus()")
        for key in ["p", "Delete"]:
            browser.run("document.getElementById('list').dispatchEvent(new KeyboardEvent('keydown', { key: arguments[0], bubbles: true }))", key)
        in_list(browser, "Open " + name)
        wait(lambda: browser.rows() == [name], "groups close all the same")
        assert states(service) == {"paused"}
        browser.audit("a work, read only")
    finally:
        browser.driver.get("about:blank")
        service.close()


def works_parse_no_text_as_markup(browser, service):
    hostile = "<img src=x onerror=document.title='owned'>"
    label = "x:<u>label</u>\"'"
    for seed in range(2):
        service.add(f"{service.upstream}/entity?size=9&seed={seed}", labels=[label, "results"],
                    track={"name": hostile, "collection": hostile, "partOf": label})
        # A label without a source is not a work's id: this one would be the name of an element.
        service.add(f"{service.upstream}/entity?size=9&seed={seed + 2}", labels=["results"], track={"name": "other", "partOf": "results"})
    browser.wait_row(hostile, "completed", "2 of 2 completed")
    wait(lambda: browser.rows().count("other") == 2, "the others are there")
    assert browser.run(f"return document.querySelectorAll('{HEAD}').length") == 1
    assert browser.run("return document.querySelectorAll('#list u, #list img').length") == 0
    assert "owned" not in browser.run("return document.title")


def works_stay_smooth_with_5000_rows(browser, service):
    for work in range(5):
        label = f"archive:work-{work}"
        orders = [{"url": f"{service.upstream}/entity?size=9&seed={work * 1000 + number}", "paused": True, "labels": [label],
                   "track": {"name": f"track {number}", "collection": f"Work {work}", "partOf": label}} for number in range(1000)]
        assert len(service.call("POST", "/downloads/batch", {"downloads": orders})["items"]) == 1000
    browser.open(service.url)
    wait(lambda: browser.text("#summary") == "5,000 downloads", "all are counted")
    wait(lambda: browser.rows()[:3] == ["Work 4", "track 0", "track 1"], "the last comes first, in its own order")
    count = lambda: browser.run("return Number(document.querySelector('#list').ariaRowCount)")
    assert count() == 5005, count()
    assert browser.run("return document.querySelectorAll('#list *').length") < 2000
    work = browser.run("""
        const button = document.querySelector("#list [data-do=open]"), begun = performance.now();
        button.click();
        return performance.now() - begun;""")
    print(f"        closing a work of 1,000 among 5,000 rows: {work:.0f} ms")
    wait(lambda: count() == 4005, "it is closed")
    assert browser.rows()[:2] == ["Work 4", "Work 3"], browser.rows()
    in_list(browser, "Cancel Work 3")
    browser.click("button", "Discard")
    browser.wait_text("#toast", "1,000 changed")
    browser.wait_row("Work 3", "cancelled", "0 of 1,000 completed")
    assert browser.row("Work 4")["state"] == "paused"
    browser.resize(320, 640)
    browser.click("link", "Downloads")
    browser.wait_fitting("works and large numbers at 320 pixels")
    browser.audit("works at 320 pixels")
    browser.shoot("works-320")
    service.renew()


def downloads_move_to_the_top(browser, service):
    for number in range(3):
        service.add(f"{service.upstream}/entity?size=9&seed={number}", paused=True, track={"name": f"k{number}"})
    browser.wait_row("k2", "paused")
    browser.click("button", "Details k2")
    browser.wait_text("#facts", "Position3")
    browser.click("button", "Move to top k2")
    browser.wait_text("#facts", "Position1")
    browser.audit("details with a position")
    browser.shoot("position")
    assert {each["track"]["name"]: each["position"] for each in service.downloads()} == {"k2": 0, "k0": 1, "k1": 2}
    browser.click("button", "Close")
    # Others have been moved since.
    browser.click("button", "Details k0")
    browser.wait_text("#facts", "Position2")
    browser.click("button", "Close")


TESTS = [works_stay_smooth_with_5000_rows, works_are_commanded_as_a_whole, works_open_into_their_parts, works_are_downloaded_in_a_format,
         works_by_keyboard_only, works_have_no_controls_with_a_token_for_reading, works_parse_no_text_as_markup,
         works_fail_and_are_retried_as_a_whole, downloads_move_to_the_top]
