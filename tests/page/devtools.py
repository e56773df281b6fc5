"""A headless Chromium driven over its DevTools pipe: file descriptors 3 and 4, JSON between zero
bytes. Only what the tests need."""

import base64
import json
import os
import selectors
import shutil
import signal
import subprocess
import tempfile

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def find():
    """The browser's path, or None."""
    return next((path for path in map(shutil.which, PROGRAMS) if path), None)


class Browser:
    """One browser with one page; `events` holds what the page has reported. It is given up when it
    has said nothing for `seconds`."""

    def __init__(self, program, seconds=600):
        self.seconds = seconds
        self.folder = tempfile.TemporaryDirectory(prefix="keel-browser-", ignore_cleanup_errors=True)
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()
        # Copies above 9, so that neither stands where the other has to go.
        high = [os.dup(to_browser), os.dup(from_browser)]
        while min(high) < 10:
            high = [os.dup(descriptor) for descriptor in high]

        def place():
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--disable-sync",
             "--disable-extensions", "--disable-background-networking",
             "--disable-component-update", "--disable-default-apps",
             f"--user-data-dir={self.folder.name}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(3, 4), preexec_fn=place, start_new_session=True,
            env=os.environ | {"HOME": self.folder.name})
        for descriptor in (to_browser, from_browser, *high):
            os.close(descriptor)
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.input, selectors.EVENT_READ)
        self.buffer = b""
        self.events = []
        self.last = 0
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(timeout=5)
        except Exception:  # it is to end, however it feels
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.input)
        os.close(self.output)
        self.folder.cleanup()

    def message(self):
        while b"\0" not in self.buffer:
            if not self.selector.select(self.seconds):
                raise TimeoutError("the browser does not answer")
            more = os.read(self.input, 1 << 20)
            if not more:
                raise EOFError(f"the browser ended, exit code {self.process.wait()}")
            self.buffer += more
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def call(self, method, **parameters):
        self.last += 1
        request = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.output, json.dumps(request).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") != self.last:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            else:
                return answer["result"]

    def wait_for_load(self, loader):
        """Of that document: what was open before it may still be telling of its own."""
        while not any(event.get("method") == "Page.lifecycleEvent" and event["params"]["name"] == "load"
                      and event["params"]["loaderId"] == loader for event in self.events):
            self.events.append(self.message())

    def open(self, url, width, height, dark):
        """Loads a page; `events` are those of this page alone."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.events.clear()
        self.wait_for_load(self.call("Page.navigate", url=url)["loaderId"])

    def evaluate(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description"))
        return answer["result"].get("value")

    def screenshot(self, path, width, height, top=0):
        """A part of the page, from `top` on. The page keeps that size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)
        self.evaluate(f"scrollTo(0, {top})")
        picture = self.call("Page.captureScreenshot", format="png")
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))
