"""The list of downloads."""

import contextlib

from selenium.webdriver.common.keys import Keys

from origin import Origin
from service import wait

LARGE = "/large/field-recording-1.bin"


def list_shows_downloads_of_other_clients(browser, service):
    browser.wait_text("#empty", "No downloads yet")
    first = service.add(service.upstream + LARGE)
    browser.wait_row("field-recording-1.bin", "downloading", "B/s")
    wait(lambda: not browser.text("#speed").startswith("0 "), "the graph shows the speed")
    wait(lambda: browser.run("return document.title") == "(1) Pawl", "the title counts it")
    service.call("POST", f"/downloads/{first['id']}/pause")
    browser.wait_row("field-recording-1.bin", "paused")
    service.call("DELETE", f"/downloads/{first['id']}")
    wait(lambda: browser.row("field-recording-1.bin") is None, "it is gone as well")


def list_is_filtered_sorted_and_labelled(browser, service):
    for number, size in enumerate([3000, 1000, 2000]):
        service.add(f"{service.upstream}/entity?size={size}&disposition=attachment%3Bfilename%3Dfile{number}.bin", labels=[f"label{number % 2}"])
    service.add(service.upstream + LARGE, paused=True, priority=7)
    wait(lambda: service.call("GET", "/stats")["downloads"]["completed"] == 3, "the small ones are done")
    wait(lambda: browser.rows() == ["field-recording-1.bin", "file2.bin", "file1.bin", "file0.bin"], "the newest is first")
    orders = {"Oldest": "file0.bin", "Size": "file0.bin", "Name": "field-recording-1.bin", "Progress": "file2.bin",
              "Speed": "field-recording-1.bin", "Priority": "field-recording-1.bin"}
    for order, first in orders.items():
        browser.choose("combobox", "Sort by", order)
        wait(lambda: browser.rows()[:1] == [first], f"{first} is first by {order}")
    browser.choose("combobox", "Sort by", "Newest")
    browser.run("[...document.querySelectorAll('#list .label')].find((label) => label.textContent === 'label0').click()")
    wait(lambda: browser.rows() == ["file2.bin", "file0.bin"], "only those with the label")
    browser.fill("searchbox", "Filter downloads", " ")
    browser.get("radio", "Completed 3").send_keys(Keys.SPACE)
    wait(lambda: len(browser.rows()) == 3, "only completed ones")
    browser.fill("searchbox", "Filter downloads", "FILE1")
    wait(lambda: browser.rows() == ["file1.bin"], "only what contains the text")
    browser.fill("searchbox", "Filter downloads", "nothing like it")
    browser.wait_text("#empty", "No download matches")
    browser.shoot("no-match")


def list_commands_apply_to_all_or_to_the_selection(browser, service):
    names = []
    for number in (1, 2, 3):
        names.append(f"field-recording-{number}.bin")
        service.add(f"{service.upstream}/large/{names[-1]}")
    for name in names:
        browser.wait_row(name, "downloading")
    browser.click("button", "Pause 3")
    for name in names:
        browser.wait_row(name, "paused")
    browser.click("checkbox", "Select " + names[0])
    browser.wait_text("#summary", "1 of 3 selected")
    browser.click("button", "Resume 1")
    browser.wait_row(names[0], "downloading")
    assert browser.row(names[1])["state"] == "paused"
    browser.click("checkbox", "1 of 3 selected")
    browser.wait_text("#summary", "3 of 3 selected")
    browser.click("checkbox", "3 of 3 selected")
    browser.wait_text("#summary", "3 downloads")
    browser.click("button", "Resume 2")
    browser.wait_row(names[2], "downloading")
    browser.click("button", "Cancel 3")
    browser.get("alertdialog", "Cancel 3 downloads?")
    browser.audit("a question")
    browser.click("button", "Keep")
    browser.click("button", "Cancel 3")
    browser.click("button", "Discard")
    for name in names:
        browser.wait_row(name, "cancelled")
    browser.click("button", "Remove 3")
    browser.click("button", "Remove")
    wait(lambda: browser.rows() == [] and service.downloads() == [], "the list is empty")


def confirmations_can_follow_each_other(browser, service):
    for number in (1, 2):
        service.add(f"{service.upstream}/large/field-recording-{number}.bin", paused=True)
        browser.wait_row(f"field-recording-{number}.bin", "paused")
    browser.click("button", "Cancel 2")
    browser.get("alertdialog", "Cancel 2 downloads?")
    # Browsers report a closed dialog later, Chromium in its next frame: here after it was opened again.
    browser.driver.execute_async_script("""const [done] = arguments, dialog = document.getElementById("confirm");
        dialog.addEventListener("close", () => done(), { once: true });
        [...dialog.querySelectorAll("button")].find(({ textContent }) => textContent === "Keep").click();
        document.querySelector("#bulk [value=cancel]").click();""")
    assert {each["state"] for each in service.downloads()} == {"paused"}, "the first time they are kept"
    browser.get("alertdialog", "Cancel 2 downloads?")
    browser.click("button", "Discard")
    for number in (1, 2):
        browser.wait_row(f"field-recording-{number}.bin", "cancelled")


def list_shows_errors_and_retries(browser, service):
    with contextlib.closing(Origin()) as origin:
        origin.set(name="late.bin", status=404)
        service.add(origin.url(5000, "late.bin"))
        failed = browser.wait_row("late.bin", "failed", "404")
        assert failed["status"].startswith("Failed · "), failed
        browser.filter("failed")
        browser.click("button", "Details late.bin")
        browser.wait_text("#details-error", "http-status")
        browser.audit("details of a failure")
        browser.click("button", "Close")
        origin.set(name="late.bin", status=0)
        browser.click("button", "Retry 1")
        browser.filter("")
        browser.wait_row("late.bin", "completed")


def list_retries_cancelled_downloads(browser, service):
    for number in (1, 2, 3):
        service.add(f"{service.upstream}/large/field-recording-{number}.bin", paused=True)
        browser.wait_row(f"field-recording-{number}.bin", "paused")
    service.call("POST", "/downloads/cancel")
    browser.wait_row("field-recording-3.bin", "cancelled")
    browser.click("button", "Retry field-recording-3.bin")
    browser.wait_row("field-recording-3.bin", "downloading")
    browser.filter("cancelled")
    browser.click("button", "Retry 2")
    browser.filter("")
    for number in (1, 2):
        browser.wait_row(f"field-recording-{number}.bin", "downloading")


def details_give_a_failed_download_another_address(browser, service):
    service.add(service.upstream + "/missing")
    wait(lambda: browser.rows(), "it is there")
    name = browser.rows()[0]
    browser.wait_row(name, "failed")
    browser.click("button", "Details " + name)
    field = "Address, if another has the same file"
    browser.fill("textbox", field, "nonsense")
    browser.click("button", "Save changes")
    browser.wait_text("#details .error[role=alert]", "url")
    browser.fill("textbox", field, service.upstream + "/entity?size=5000&disposition=attachment%3Bfilename%3Dfresh.bin")
    browser.shoot("another-address")
    browser.click("button", "Save changes")
    wait(lambda: service.downloads()[0]["state"] == "completed", "it goes on at the other address")


def list_plays_by_name_where_the_media_type_is_missing(browser, service):
    for kind, name in (("application/octet-stream", "song.mp3"), ("application/octet-stream", "notes.txt"), ("text/plain", "not.mp3")):
        service.add(f"{service.upstream}/entity?size=500&type={kind}&disposition=attachment%3Bfilename%3D{name}&x={name}")
        browser.wait_row(name, "completed")
    assert not browser.has("button", "Play notes.txt") and not browser.has("button", "Play not.mp3")
    browser.click("button", "Play song.mp3")
    browser.wait_text("#toast", "song.mp3 cannot be played here")
    assert not browser.run("return document.querySelector('#player').checkVisibility()")
    browser.complaints()


def problems_are_in_words(browser, service):
    browser.click("button", "Add links")
    browser.fill("textbox", "Addresses, one per line", "http://10.1.2.3/x\nhttp://[x/")
    browser.click("button", "Download")
    browser.wait_text("#add .error", "may not connect to 10.1.2.3 (private use)")
    text = browser.text("#add .error")
    assert "--allow" not in text and "downloads[" not in text and "url has an invalid" in text, text
    browser.shoot("problems")


def details_show_and_change_a_download(browser, service):
    checksum = service.add(service.upstream + "/entity?size=70000&type=audio/x&disposition=attachment%3Bfilename%3Ddone.bin")
    service.add(service.upstream + LARGE, paused=True)
    browser.wait_row("done.bin", "completed")
    browser.click("button", "Details done.bin")
    browser.get("dialog", "done.bin")
    sha256 = service.call("GET", f"/downloads/{checksum['id']}")["sha256"]
    wait(lambda: all(part in browser.text("#facts") for part in [sha256, "70,000 bytes", "ETag", "Content-Disposition"]),
         "checksum, sizes and headers are told")
    assert browser.has("progressbar", "68.3 of 68.3 KiB received")
    browser.audit("details")
    browser.click("button", "Close")
    browser.click("button", "Details field-recording-1.bin")
    browser.fill("textbox", "Folder", "music/live")
    browser.fill("textbox", "Labels", "alpha, beta")
    browser.fill("spinbutton", "Priority", "5")
    browser.fill("spinbutton", "Speed limit in MiB/s", "0.5")
    browser.shoot("details")
    browser.click("button", "Save changes")
    wait(lambda: not browser.has("dialog", "field-recording-1.bin"), "the dialog closes")
    browser.wait_row("field-recording-1.bin", "paused", "beta")
    item = next(each for each in service.downloads() if each["state"] == "paused")
    assert (item["labels"], item["priority"], item["speedLimit"]) == (["alpha", "beta"], 5, 524_288), item
    assert item["folder"] == "music/live", item


def links_are_added_by_typing_pasting_and_dropping(browser, service):
    base = service.upstream + "/entity?size=100&seed="
    browser.click("button", "Add links")
    browser.get("dialog", "Add links")
    browser.run("document.querySelector('#add details').open = true")
    browser.audit("adding")
    browser.fill("textbox", "Addresses, one per line", f"{base}1\nftp://example.org/\n{base}2")
    browser.fill("textbox", "Folder", "added")
    browser.fill("textbox", "Labels", "pasted")
    browser.fill("spinbutton", "Priority", "-3")
    browser.click("checkbox", "Start paused")
    browser.click("button", "Download")
    browser.wait_text("#add .error", "ftp://example.org/")
    assert browser.get("textbox", "Addresses, one per line").get_attribute("value") == "ftp://example.org/"
    browser.click("button", "Close")
    wait(lambda: len(browser.rows()) == 2, "both good ones are there")
    assert {(each["state"], each["priority"], each["folder"], *each["labels"]) for each in service.downloads()} == {("paused", -3, "added", "pasted")}
    browser.open(service.url)
    browser.run("""const clipboardData = new DataTransfer();
        clipboardData.setData("text", `look: ${arguments[0]}`);
        document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }))""", base + "3")
    field = browser.get("textbox", "Addresses, one per line")
    assert field.get_attribute("value") == base + "3"
    browser.click("button", "Download")
    wait(lambda: len(browser.rows()) == 3, "the pasted one is there")
    wait(lambda: not browser.has("dialog", "Add links"), "the dialog closes")
    browser.run("""const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File([arguments[0] + "4\\n" + arguments[0] + "5\\n"], "list.txt", { type: "text/plain" }));
        for (const name of ["dragover", "drop"]) {
            document.body.dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true }));
        }""", base)
    browser.click("button", "Download")
    wait(lambda: len(browser.rows()) == 5, "those of the dropped list are there")


def links_take_headers_and_a_checksum(browser, service):
    browser.click("button", "Add links")
    browser.run("document.querySelector('#add details').open = true")
    browser.fill("textbox", "Addresses, one per line", service.upstream + "/entity?size=100")
    browser.fill("textbox", "Checksum of a single file", "0" * 64)
    for header, complaint in [("nonsense", "“nonsense” is not written Name: value"), ("bad name: x", "“bad name: x” is not written"),
                              ("Content-Length: 5", "may not set Content-Length")]:
        browser.fill("textbox", "Request headers, one per line", "X-Test: one\n" + header)
        browser.click("button", "Download")
        browser.wait_text("#add .error", complaint)
    assert service.downloads() == []
    browser.fill("textbox", "Request headers, one per line", "X-Test: one")
    browser.shoot("add")
    browser.click("button", "Download")
    browser.wait_row("entity", "failed", "sha-256:")
    browser.click("button", "Details entity")
    browser.wait_text("#details-error", "checksum-mismatch")
    browser.wait_text("#facts", "sha-256:" + "0" * 64)
    browser.click("button", "Close")
    browser.click("button", "Add links")
    assert browser.get("textbox", "Request headers, one per line").get_attribute("value") == "", "they were meant for that file only"


def details_show_received_ranges(browser, service):
    added = service.add(service.upstream + LARGE)
    browser.wait_row("field-recording-1.bin", "downloading", "B/s")
    browser.click("button", "Details field-recording-1.bin")
    pieces = """return [...document.querySelectorAll("#ranges i")].map(({ style }) => [parseFloat(style.insetInlineStart), parseFloat(style.width)])"""
    wait(lambda: len(browser.run(pieces)) >= 4, "each connection fills a part of its own")
    wait(lambda: ", in " in browser.run("return document.querySelector('#ranges').ariaLabel"), "it is told in words as well")
    browser.shoot("segments")
    browser.click("button", "Pause field-recording-1.bin")
    browser.wait_text("#details-state", "Paused")
    told = service.call("GET", f"/downloads/{added['id']}")
    ranges = told["receivedRanges"]
    assert len(ranges) >= 4 and sum(each["end"] - each["start"] for each in ranges) == told["bytesReceived"], ranges
    expected = [[100 * each["start"] / told["bytesTotal"], 100 * (each["end"] - each["start"]) / told["bytesTotal"]] for each in ranges]

    def is_drawn():
        drawn = browser.run(pieces)
        return len(drawn) == len(expected) and all(abs(a - b) < 0.01 for each in zip(drawn, expected) for a, b in zip(*each))
    wait(is_drawn, "the bar shows what the service tells")
    browser.audit("details with segments")


def keys_do_everything(browser, service):
    for number in range(30):
        service.add(f"{service.upstream}/entity?size=9&seed={number}&x=/k{number:02}.bin", paused=True, track={"name": f"k{number:02}"})
    wait(lambda: len(browser.rows()) >= 6, "they are there")
    wait(lambda: browser.text("#summary") == "30 downloads", "all are there")
    press = lambda *keys: browser.driver.switch_to.active_element.send_keys(*keys)
    seen = []
    for _ in range(40):
        press(Keys.TAB)
        seen.append(browser.run("const { ariaLabel, id, value, textContent } = document.activeElement; return ariaLabel || id || value || textContent"))
        shown = browser.run("""const focus = document.activeElement;
            const marked = focus.matches("fieldset input") ? focus.parentElement : focus.querySelector(".current") ?? focus;
            return getComputedStyle(marked).outlineStyle""")
        assert shown != "none", f"the focus is invisible at {seen[-1]}"
        if seen[-1] == "Downloads":
            break
    for wanted in ["open-add", "open-settings", "Search", "Source", "Filter downloads", "Sort by", "select-all", "resume", "Downloads"]:
        assert wanted in seen, (wanted, seen)
    press(Keys.HOME)
    wait(lambda: browser.current() == "k29", "Home goes to the beginning")
    press(Keys.ARROW_DOWN)
    wait(lambda: browser.current() == "k28", "down goes down")
    press(Keys.END)
    wait(lambda: browser.current() == "k00", "End goes to the end")
    press(Keys.PAGE_UP)
    wait(lambda: "k00" < browser.current() < "k29", "Page Up goes up")
    press(Keys.HOME)
    wait(lambda: browser.current() == "k29", "Home goes to the beginning")
    press(Keys.SPACE)
    browser.wait_text("#summary", "1 of 30 selected")
    press(Keys.ARROW_DOWN)
    press(Keys.SPACE)
    browser.wait_text("#summary", "2 of 30 selected")
    press(Keys.CONTROL, "a")
    browser.wait_text("#summary", "30 of 30 selected")
    press(Keys.ESCAPE)
    browser.wait_text("#summary", "30 downloads")
    press(Keys.HOME)
    press("p")
    browser.wait_row("k29", "completed")
    press(Keys.ENTER)
    browser.get("dialog", "k29")
    press(Keys.ESCAPE)
    wait(lambda: not browser.has("dialog", "k29") and browser.current() == "k29", "Escape leads back")
    press(Keys.ARROW_DOWN)
    press(Keys.DELETE)
    browser.wait_row("k28", "cancelled")
    press(Keys.DELETE)
    wait(lambda: browser.row("k28") is None, "Delete removes what has ended")
    wait(lambda: browser.current() == "k27", "the next one takes its place")


TESTS = [list_shows_downloads_of_other_clients, list_is_filtered_sorted_and_labelled, list_commands_apply_to_all_or_to_the_selection,
         confirmations_can_follow_each_other, list_shows_errors_and_retries, list_retries_cancelled_downloads,
         details_give_a_failed_download_another_address, list_plays_by_name_where_the_media_type_is_missing, problems_are_in_words, details_show_and_change_a_download,
         details_show_received_ranges, links_are_added_by_typing_pasting_and_dropping,
         links_take_headers_and_a_checksum, keys_do_everything]
