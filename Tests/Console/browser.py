"""A headless Chromium, whose controls are found as by a screen reader: by role and accessible name."""

import contextlib
import hashlib
import os
import pathlib
import shutil
import tempfile

try:
    import axe_core_python
except ImportError:
    axe_core_python = None
from selenium import webdriver
from selenium.common.exceptions import JavascriptException, StaleElementReferenceException, WebDriverException
from selenium.webdriver.common.keys import Keys

from service import SHELF, wait

OUTPUT = pathlib.Path(__file__).resolve().parent / "output"
AXE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text() if axe_core_python else None


class Browser:
    def __init__(self):
        # Chromium and its driver leave files in several directories.
        self.directory = tempfile.mkdtemp(prefix="pawl-browser-", dir=SHELF)
        options = webdriver.ChromeOptions()
        options.binary_location = "/usr/bin/chromium"
        # The sandbox needs privileges that containers lack, and /dev/shm is small there.
        for flag in ["headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu", "lang=en-US",
                     "autoplay-policy=no-user-gesture-required", "disable-background-networking",
                     "user-data-dir=" + self.directory + "/profile"]:
            options.add_argument("--" + flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        variables = {**os.environ, "TMPDIR": self.directory, "HOME": self.directory}
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver", env=variables))
        self.driver.set_script_timeout(120)
        OUTPUT.mkdir(exist_ok=True)
        self.resize(1440, 900)

    def close(self):
        try:
            self.driver.quit()
        finally:
            shutil.rmtree(self.directory, ignore_errors=True)

    # The browser's window

    def resize(self, width, height, scale=1):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)

    def prefer(self, scheme="light", motion="no-preference"):
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme},
                                                         {"name": "prefers-reduced-motion", "value": motion}])

    def cdp(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def open(self, url):
        """Opens a page and waits until it is live."""
        self.driver.get("about:blank")
        self.driver.get(url)
        self.wait_text("#connection-text", "Live")

    def shoot(self, name):
        # Two frames, so that the last change is drawn.
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
        self.driver.save_screenshot(str(OUTPUT / (name + ".png")))

    # Queries

    def all(self, role, name):
        """The elements with this role and exactly this accessible name that assistive technology can reach."""
        root = self.cdp("DOM.getDocument", depth=0)["root"]["backendNodeId"]
        found = []
        for node in self.cdp("Accessibility.queryAXTree", backendNodeId=root, accessibleName=name, role=role)["nodes"]:
            if node.get("ignored"):
                continue
            try:
                handle = self.cdp("DOM.resolveNode", backendNodeId=node["backendDOMNodeId"])["object"]["objectId"]
                self.cdp("Runtime.callFunctionOn", objectId=handle, functionDeclaration="function () { window.found = this; }")
                element = self.run("return window.found")
            except (WebDriverException, KeyError):
                continue  # removed since
            if element is not None:
                found.append(element)
        return found

    def has(self, role, name):
        return bool(self.all(role, name))

    def get(self, role, name, enabled=False):
        def usable():
            elements = [each for each in self.all(role, name) if not enabled or each.is_enabled()]
            return elements[0] if elements else None
        return wait(usable, f"there is a {role} called {name!r}")

    def click(self, role, name):
        """Clicks, and again if the element was replaced or covered."""
        def clicked():
            try:
                self.get(role, name, enabled=True).click()
                return True
            except WebDriverException:
                return False
        wait(clicked, f"the {role} called {name!r} can be clicked")

    def fill(self, role, name, text):
        element = self.get(role, name)
        element.send_keys(Keys.CONTROL, "a")
        element.send_keys(Keys.DELETE)
        element.send_keys(text)
        return element

    def choose(self, role, name, option):
        """Selects an option by its text."""
        def chosen():
            try:
                return self.run("""
                    const [select, text] = arguments;
                    const option = [...select.options].find((each) => each.text === text);
                    if (!option) return false;
                    select.value = option.value;
                    for (const name of ["input", "change"]) select.dispatchEvent(new Event(name, { bubbles: true }));
                    return true;""", self.get(role, name), option)
            except StaleElementReferenceException:
                return False
        wait(chosen, f"{name!r} offers {option!r}")

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? ''", selector)

    def wait_text(self, selector, part):
        wait(lambda: part in self.text(selector), f"{selector} says {part!r}")

    def rows(self):
        """The names of the drawn rows from the top."""
        return self.run("""return [...document.querySelectorAll("#list .row")]
            .sort((a, b) => a.getAttribute("aria-rowindex") - b.getAttribute("aria-rowindex")).map((row) => row.ariaLabel)""")

    def row(self, name):
        """The state and text of a row in the list, or None."""
        return self.run("""const row = [...document.querySelectorAll("#list .row")].find((row) => row.ariaLabel === arguments[0]);
            return row ? { state: row.dataset.state, text: row.innerText, status: row.querySelector(".status").textContent } : null""", name)

    def wait_row(self, name, state=None, text=""):
        def there():
            row = self.row(name)
            return row and (state is None or row["state"] == state) and text in row["text"] and row
        return wait(there, lambda: f"the row {name!r} is {state or 'there'} and says {text!r}, not {self.row(name)}")

    def filter(self, state):
        self.run("""const radio = document.querySelector(`#states [value="${arguments[0]}"]`); radio.click()""", state)

    def current(self):
        """The name of the row for keys."""
        return self.run("""const list = document.activeElement;
            return document.getElementById(list.getAttribute("aria-activedescendant"))?.ariaLabel""")

    @contextlib.contextmanager
    def saving(self):
        """A directory for the browser's saved files during the context."""
        with tempfile.TemporaryDirectory() as directory:
            self.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=directory)
            yield pathlib.Path(directory)
            self.cdp("Browser.setDownloadBehavior", behavior="default")

    def save(self, name, record):
        """Saves the file of a finished download by its button, and compares it with its record."""
        with self.saving() as directory:
            self.click("button", "Save " + name)
            saved = directory / record["filename"]
            wait(saved.exists, "the file is saved")
            assert hashlib.sha256(saved.read_bytes()).hexdigest() == record["sha256"]

    def wait_fitting(self, what):
        found = []

        def fits():
            found[:] = self.overflow()
            return not found
        try:
            wait(fits, "", limit=10)
        except AssertionError:
            raise AssertionError(f"the page scrolls sideways at {what}: {found}") from None

    def overflow(self):
        """The elements beyond the window's width, if the page scrolls horizontally."""
        return self.run("""const { scrollWidth, clientWidth } = document.documentElement;
            return scrollWidth <= clientWidth ? [] : [...document.querySelectorAll("body *")]
                .filter((each) => each.getBoundingClientRect().right > clientWidth || each.getBoundingClientRect().left < 0)
                .map((each) => each.outerHTML.slice(0, 100))""")

    # Checks

    def audit(self, where):
        """axe-core's violations on the page; none if axe-core is not available."""
        if AXE is None:
            return
        if not self.run("return typeof window.axe === 'object'"):
            self.cdp("Runtime.evaluate", expression=AXE)
        result = self.driver.execute_async_script("""
            const done = arguments[0];
            axe.run({ resultTypes: ["violations"] }).then((result) => done(result.violations), (error) => done([{ id: String(error), nodes: [] }]))""")
        problems = [f"{each['id']}: {node['html'][:160]} {node.get('failureSummary', '')}" for each in result for node in each["nodes"][:3]]
        assert not result, f"axe on {where}: " + "\n".join(problems or [each["id"] for each in result])

    def complaints(self):
        """The errors and warnings in the browser's console, except for requests that were meant to fail."""
        entries = [entry for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        return [entry["message"] for entry in entries if "Failed to load resource" not in entry["message"]]
