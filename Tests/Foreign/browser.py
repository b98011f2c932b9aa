"""A browser, Debian's headless Chromium, by its WebDriver."""
import base64
import json
import subprocess
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"tab": "\ue004", "enter": "\ue007", "escape": "\ue00c", "shift": "\ue008"}


class Browser:
    def __init__(self, dark=False, width=1200, height=900):
        self.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True)
        port = None
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                port = line.rstrip(".\n").split()[-1]
                break
        self.base = f"http://127.0.0.1:{port}"
        arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--disable-background-networking", "--disable-component-update", "--no-first-run",
            f"--window-size={max(width, 500)},{height}"]
        if dark:
            arguments.append("--force-dark-mode")
        options = {
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        reply = self.call("POST", "/session", {"capabilities": {"alwaysMatch": options}})
        self.base += f"/session/{reply['sessionId']}"
        self.call("POST", "/timeouts", {"script": 120_000})
        # A window is not narrower than 500 pixels; the page can be.
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height,
                      deviceScaleFactor=1, mobile=width < 500)
        scheme = "dark" if dark else "light"
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as reply:
                return json.load(reply)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(error.read().decode()[:500]) from error

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, address):
        self.call("POST", "/url", {"url": address})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def text(self):
        return self.run("return document.body.innerText")

    def wait(self, condition, what, seconds=15):
        """Waits until an expression is true; the page itself looks, every 15 ms."""
        value = self.call("POST", "/execute/async", {"args": [], "script": f"""
            const [done] = arguments, end = Date.now() + {seconds * 1000};
            const look = () => {{
              const value = {condition};
              if (value || Date.now() > end) done(value); else setTimeout(look, 15);
            }};
            look();"""})
        if not value:
            raise AssertionError(f"not in time: {what}\n{self.text()}\n{self.complaints()}")
        return value

    def wait_for(self, text, seconds=15):
        self.wait(f"document.body.innerText.includes({json.dumps(text)})", repr(text), seconds)

    def press(self, *keys):
        """Presses keys, one after the other, where the focus is."""
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})

    def tab_to(self, text, most=60):
        """Moves the focus by the Tab key to what has this text."""
        for _ in range(most):
            self.press("tab")
            if self.run("return (document.activeElement.innerText || '').trim()") == text:
                return
        raise AssertionError(f"the Tab key does not reach {text!r}")

    def complaints(self):
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def addresses(self):
        """Of all requests."""
        found = []
        for entry in self.call("POST", "/se/log", {"type": "performance"}):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return found

    def picture(self, path, whole=False):
        shot = self.devtools("Page.captureScreenshot", captureBeyondViewport=whole)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()
