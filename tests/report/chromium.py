"""Chromium without a window, spoken to through two pipes by its own protocol; nothing has to be installed beside it."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]


class Chromium:
    """One page: `open` a file in some width, `ask` it JavaScript; `requests` and `complaints` are what it did."""

    def __init__(self, folder):
        self.requests, self.complaints, self.number, self.events, self.rest = [], [], 0, [], b""
        theirs, self.write_end = os.pipe()
        self.read_end, answers = os.pipe()

        def hand_over():  # Chromium reads from 3 and writes to 4
            a, b = os.dup(theirs), os.dup(answers)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [PROGRAM, *FLAGS, f"--user-data-dir={folder}", "about:blank"],
            preexec_fn=hand_over,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(answers)
        self.session = None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        os.close(self.write_end)
        self.process.terminate()
        self.process.wait(30)
        os.close(self.read_end)

    def open(self, path, width, height=900, dark=False, media=""):
        """Show a file as in a window of that width."""
        self.requests.clear()
        self.complaints.clear()
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.send("Emulation.setEmulatedMedia", media=media, features=scheme)
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.send("Emulation.setDeviceMetricsOverride", **size)
        self.events.clear()
        self.send("Page.navigate", url=path.resolve().as_uri())
        deadline = time.monotonic() + 60
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            assert time.monotonic() < deadline, "the page did not load"
            self._read()
        self.ask("1")  # what was said meanwhile

    def ask(self, script):
        """The value of an expression in the page."""
        answer = self.send("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self, path):
        """The whole page, as a PNG."""
        picture = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(picture["data"]))

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def _read(self):
        while b"\0" not in self.rest:
            piece = os.read(self.read_end, 1 << 16)
            assert piece, "Chromium has ended"
            self.rest += piece
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        method = message.get("method")
        if method is not None:
            self.events.append(message)
        if method == "Network.requestWillBeSent":
            self.requests.append(message["params"]["request"]["url"])
        if method == "Runtime.exceptionThrown" or method == "Log.entryAdded":
            self.complaints.append(message["params"])
        if method == "Runtime.consoleAPICalled":
            self.complaints.append(message["params"])
        return message
