"""A headless Chromium, driven over the DevTools protocol through a pair of pipes: no port, no library.

Source: https://chromedevtools.github.io/devtools-protocol/ and Chromium's --remote-debugging-pipe, which reads JSON messages from file
descriptor 3 and writes them to 4, each ended by a null byte.
"""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

# Longer than a slow machine needs for any answer: a browser that hangs is a failure, not a wait.
LIMIT = 60.0

# Name in the protocol, Windows key code and text of the keys that tests press; for others the key is its own text.
KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), "ArrowDown": (40, ""), "ArrowUp": (38, ""), "Home": (36, ""),
        "End": (35, ""), "Backspace": (8, "")}


class Browser:
    """Chromium with a profile of its own, which goes when the browser does."""

    def __init__(self, program):
        self.profile = tempfile.mkdtemp(prefix="report-browser.")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        arguments = [program, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "--no-first-run",
                     "--disable-gpu", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
                     "--disable-sync", "--hide-scrollbars", "--force-color-profile=srgb", "--font-render-hinting=none",
                     "--disable-dev-shm-usage"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")  # Chromium refuses to run as root with it.
        # The shell puts the pipes where Chromium expects them.
        shell = f'exec 3<&{to_browser} 4>&{from_browser}; exec "$0" "$@"'
        self.process = subprocess.Popen(["bash", "-c", shell, *arguments], pass_fds=(to_browser, from_browser),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.received = b""
        self.count = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.send("Browser.close")
            self.process.wait(10)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.profile, ignore_errors=True)

    def send(self, method, session=None, **parameters):
        """Sends a command and returns its result; events that come before it are kept."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + LIMIT
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def receive(self, deadline):
        while b"\0" not in self.received:
            ready, _, _ = select.select([self.read_end], [], [], max(deadline - time.monotonic(), 0))
            chunk = os.read(self.read_end, 1 << 20) if ready else b""
            if not chunk:
                raise RuntimeError("the browser has ended" if ready else f"the browser did not answer within {LIMIT:.0f} s")
            self.received += chunk
        message, self.received = self.received.split(b"\0", 1)
        return json.loads(message)

    def open(self, address, width=1280, height=800):
        return Page(self, address, width, height)


class Page:
    """A tab: what a person does with it, and what can be seen in it."""

    def __init__(self, browser, address, width, height):
        self.browser = browser
        target = browser.send("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")
        self.media()
        self.resize(width, height)
        self.go(address)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.send("Target.closeTarget", targetId=self.target)

    def send(self, method, **parameters):
        return self.browser.send(method, self.session, **parameters)

    def go(self, address):
        """Opens an address and waits until everything of it is there and drawn."""
        before = len(self.seen("Page.loadEventFired"))
        error = self.send("Page.navigate", url=address).get("errorText")
        if error:
            raise RuntimeError(f"{address}: {error}")
        deadline = time.monotonic() + LIMIT
        while len(self.seen("Page.loadEventFired")) == before:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{address} was not loaded within {LIMIT:.0f} s")
        self.settle()

    def resize(self, width, height):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def media(self, kind="", **features):
        """The medium (print, or "" for the screen) and what the person prefers: color_scheme="dark"."""
        wanted = {"prefers-color-scheme": "light", "prefers-reduced-motion": "reduce"}
        wanted.update({"prefers-" + name.replace("_", "-"): value for name, value in features.items()})
        self.send("Emulation.setEmulatedMedia", media=kind, features=[{"name": name, "value": value} for name, value in wanted.items()])

    def get(self, expression):
        """The value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails'].get('exception', {}).get('description')}")
        return answer["result"].get("value")

    def wait(self, expression):
        deadline = time.monotonic() + LIMIT
        while not self.get(f"Boolean({expression})"):
            if time.monotonic() > deadline:
                raise RuntimeError(f"this never became true: {expression}")
            time.sleep(0.01)

    def settle(self):
        """Until what was changed has been drawn."""
        self.get("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))))")

    def press(self, key, modifiers=0):
        code, text = KEYS.get(key, (ord(key[0].upper()), key))
        description = {"key": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        self.send("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **description)
        self.send("Input.dispatchKeyEvent", type="keyUp", **description)
        self.settle()

    def type(self, text):
        for character in text:
            self.press(character)

    def click(self, selector):
        """Presses the mouse in the middle of an element, where whatever covers it gets it."""
        self.get(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'nearest'}})")
        self.settle()
        x, y = self.get(f"(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector({json.dumps(selector)})"
                        ".getBoundingClientRect())")
        self.drag(x, y, x, y)

    def drag(self, x, y, to_x, to_y):
        self.mouse("mousePressed", x, y)
        if (x, y) != (to_x, to_y):
            self.mouse("mouseMoved", (x + to_x) / 2, (y + to_y) / 2)
            self.mouse("mouseMoved", to_x, to_y)
        self.mouse("mouseReleased", to_x, to_y)
        self.settle()

    def mouse(self, what, x, y):
        self.send("Input.dispatchMouseEvent", type=what, x=x, y=y, button="left", buttons=0 if what == "mouseReleased" else 1, clickCount=1)

    def picture(self, path):
        data = self.send("Page.captureScreenshot", format="png", optimizeForSpeed=False)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self):
        return base64.b64decode(self.send("Page.printToPDF", printBackground=True)["data"])

    def seen(self, method):
        """The events of that method since the page was opened."""
        self.get("0")
        return [event["params"] for event in self.browser.events
                if event.get("method") == method and event.get("sessionId") == self.session]

    def complaints(self):
        """What the console would show in red: exceptions, errors, violations of the page's policy."""
        return ([event["exceptionDetails"]["text"] for event in self.seen("Runtime.exceptionThrown")] +
                [event["entry"]["text"] for event in self.seen("Log.entryAdded") if event["entry"]["level"] in ("error", "warning")] +
                [str(event["args"]) for event in self.seen("Runtime.consoleAPICalled") if event["type"] in ("error", "warning", "assert")])

    def requests(self):
        """Addresses that were asked for beside the page's own."""
        return [event["request"]["url"] for event in self.seen("Network.requestWillBeSent") if event["type"] != "Document"]
