"""Searches, and downloading, playing and saving results."""

from selenium.webdriver.common.keys import Keys

from service import wait

RECORDING = "Field Recording 1: Harbour at Dawn"


def search_finds_as_you_type(browser, service):
    field = browser.get("searchbox", "Search")
    for part in ["pre", "lude", " and", " fugue"]:
        field.send_keys(part)
    browser.wait_text("#search-status", "results")
    wait(lambda: "Prelude and Fugue" in browser.text("#results .name"), "the last term's results are shown")
    wait(lambda: browser.text("#attribution") == "provided courtesy of iTunes", "the source's attribution is shown")
    first = browser.run("return document.querySelector('#results .row').innerText")
    assert "Johann Sebastian Bach · The Well-Tempered Clavier" in first, first
    covered = browser.run("""const [row] = document.querySelectorAll("#results .row");
        const box = (selector) => row.querySelector(selector).getBoundingClientRect();
        return box(".name").right > box(".do").left || box(".soft").width < 50 || box("a").width < 50""")
    assert not covered, "something of a result is covered or squeezed"
    name = browser.text("#results .name")
    link = browser.get("link", f"View page of {name}")
    assert link.get_attribute("href").startswith("http"), link.get_attribute("href")
    wait(lambda: browser.run("return document.querySelector('#results img')?.naturalWidth > 0"), "artwork is drawn")
    browser.audit("results")
    browser.shoot("search-light")
    browser.fill("searchbox", "Search", "zzzzqqq")
    browser.wait_text("#search-status", "Nothing found")
    browser.fill("searchbox", "Search", " ")
    browser.wait_text("#search-status", "Type to search")


def search_is_found_by_its_key(browser, service):
    browser.resize(600, 900)
    browser.click("link", "Downloads")
    browser.get("searchbox", "Filter downloads").send_keys(Keys.CONTROL, "k")
    wait(lambda: browser.driver.switch_to.active_element == browser.get("searchbox", "Search"), "its field has the focus")


def search_takes_source_and_media(browser, service):
    browser.fill("searchbox", "Search", "prelude")
    browser.choose("combobox", "Media", "Music")
    browser.wait_text("#search-status", "results")
    browser.choose("combobox", "Source", "JSONPlaceholder posts")
    assert not browser.get("combobox", "Media").is_enabled()
    browser.fill("searchbox", "Search", "the")
    wait(lambda: browser.has("button", "Download " + browser.text("#results .name")), "posts can be downloaded")
    browser.wait_text("#search-status", "results")
    wait(lambda: browser.text("#attribution") == "", "posts need no attribution")
    browser.get("button", "More results").click()
    wait(lambda: browser.run("return document.querySelectorAll('#results .row').length") > 50, "there are more results")


def search_results_are_downloaded_and_controlled(browser, service):
    browser.fill("searchbox", "Search", "harbour")
    browser.click("button", "Download " + RECORDING)
    status = "#results .status"
    wait(lambda: " of 256.0 MiB · " in browser.text(status) and "B/s" in browser.text(status) and " left" in browser.text(status),
         "the result shows progress, speed and time left")
    browser.wait_row(RECORDING, "downloading", "of 256.0 MiB")
    browser.shoot("download-progress")
    results = "document.querySelector('#results')"

    def click(name):
        wait(lambda: browser.run(f"""const button = [...{results}.querySelectorAll('button')]
            .find((each) => each.ariaLabel === arguments[0] && !each.hidden); button?.click(); return Boolean(button)""", name), name)
    click("Pause " + RECORDING)
    browser.wait_text(status, "Paused · ")
    received = service.downloads()[0]["bytesReceived"]
    assert received > 0
    click("Resume " + RECORDING)
    wait(lambda: service.downloads()[0]["bytesReceived"] > received, "it goes on from its bytes")
    click("Cancel " + RECORDING)
    wait(lambda: browser.has("button", "Discard") or "Cancelled" in browser.text(status), "it asks before much is lost")
    if browser.has("button", "Discard"):
        browser.click("button", "Discard")
    browser.wait_text(status, "Cancelled")
    assert browser.has("button", "Retry " + RECORDING)


def search_results_are_played_and_saved(browser, service):
    service.call("PATCH", "/settings", {"speedLimit": 0})
    browser.fill("searchbox", "Search", "cello suite")
    name = wait(lambda: browser.text("#results .name"), "there is a result")
    browser.click("button", "Preview " + name)
    playing = "const media = document.querySelector('#player audio'); return media?.currentTime > 0.05 ? media.src : null"
    assert service.upstream in wait(lambda: browser.run(playing), "the preview plays")
    browser.click("button", "Close player")
    browser.click("button", "Download " + name)
    browser.wait_row(name, "completed")
    browser.click("button", "Play " + name)
    assert service.url in wait(lambda: browser.run(playing), "the file plays")
    browser.audit("player")
    browser.click("button", "Close player")
    browser.save(name, service.downloads()[0])


TESTS = [search_finds_as_you_type, search_is_found_by_its_key, search_takes_source_and_media,
         search_results_are_downloaded_and_controlled, search_results_are_played_and_saved]
