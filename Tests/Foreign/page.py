"""Uses the page of `cascadectl web` in a browser, as a person does.

Arguments: cascadectl, the store, what to try, the daemon's number, and a directory for pictures if
they are wanted.
"""
import json
import os
import signal
import subprocess
import sys
import time

from browser import Browser

CTL, STORE, WHAT = sys.argv[1:4]
PICTURES = sys.argv[5] if len(sys.argv) > 5 else None
TARGET = ["--socket" if STORE.endswith("/control") else "--store", STORE]
VIEWS = ["Now", "Sweeps", "Batches", "Held", "Why", "Check", "Spool"]


def ctl(*arguments, input=None):
    run = subprocess.run(
        [CTL, *TARGET, "--json", *arguments], input=input, text=True, capture_output=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def sql(text):
    subprocess.run(["sqlite3", "-cmd", ".timeout 5000", STORE, text], check=True)


class Page:
    """The page, opened in a browser by the address that the command prints."""

    def __init__(self, *options, **browser):
        self.web = subprocess.Popen(
            [CTL, *TARGET, "web", *options], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, text=True)
        self.address = self.web.stdout.readline().strip()
        self.browser = Browser(**browser)

    def __enter__(self):
        self.browser.open(self.address)
        self.browser.wait_for("Events")
        return self.browser

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.is_clean()
        finally:
            self.browser.close()
            self.web.terminate()
            self.web.wait()

    def is_clean(self):
        complaints = [c for c in self.browser.complaints() if "status of 409" not in c]
        assert complaints == [], complaints
        home = self.address.split("?")[0]
        strangers = [a for a in self.browser.addresses() if not a.startswith((home, "data:"))]
        assert strangers == [], strangers


def go(it, view, **query):
    """Goes to a view, and waits until what the daemon says of it is drawn."""
    text = "&".join(f"{name}={value}" for name, value in query.items())
    it.run("location.hash = arguments[0]", f"#{view}{'?' + text if text else ''}")
    it.wait("(({ dataset, ariaBusy }) => dataset.place === location.hash && !ariaBusy)"
            "(document.getElementById('main'))", f"the view {view}")


def button(it, label):
    """Presses a button of the page, by its text."""
    it.wait(f"[...document.querySelectorAll('main button')].find("
            f"(b) => b.innerText === {json.dumps(label)})", f"the button {label}")
    it.run("[...document.querySelectorAll('main button')].find("
           "(b) => b.innerText === arguments[0]).click()", label)


def agree(it, label):
    button(it, label)
    it.wait("document.getElementById('ask').open", "the question")
    assert it.run("return document.activeElement.id") == "ask-no", "the focus is on Cancel"
    it.run("document.getElementById('ask-yes').click()")


def views():
    """Every view has what the command line says."""
    ctl("apply", "-", input='{"id": "wrong", "changes": [{"putt": 1}]}')
    sql("INSERT INTO song VALUES(90, 9); DELETE FROM artist WHERE id = 'nina'")
    with Page() as it:
        it.wait_for("deleted 3 nodes")
        assert os.path.basename(STORE) in it.text() and "lock p50" in it.text()
        it.wait_for("Deleted in the last hour\n3 nodes")
        bars = it.run("return [...document.querySelectorAll('.chart .some title')].map((t) => "
                      "t.textContent)")
        assert len(bars) == 1 and bars[0].startswith("3 nodes, "), bars
        go(it, "sweeps")
        it.wait_for("deleteSourceIfDestinationDeleted")
        assert "immediate" in it.text() and "Schedules" in it.text()
        assert "Recent sweeps" in it.text() and "longest hold of the lock" in it.text()
        assert it.run("return document.querySelector('td meter').value > 0"), "how long it held"
        go(it, "batches")
        it.wait_for("an application's change")
        assert "1 of albums, 2 of songs" in it.text()
        go(it, "held")
        it.wait_for("Nothing waits.")
        go(it, "why", node="songs/10")
        it.wait_for("An application's change began it.")
        chain = it.run("return [...document.querySelectorAll('.picture a')].map((a) => "
                       "a.getAttribute('aria-label'))")
        assert chain == ["artists/nina", "albums/1", "songs/10"], chain
        go(it, "why", node="albums/2")
        it.wait_for("Around it")
        boxes = it.run("return [...document.querySelectorAll('.picture a')].map((a) => "
                       "a.getAttribute('aria-label'))")
        assert set(boxes) == {"albums/2", "artists/ella", "songs/20", "contracts/1"}, boxes
        go(it, "check")
        it.wait_for("1 finding")
        assert "songs/90" in it.text() and "References to nothing" in it.text(), it.text()
        go(it, "spool")
        it.wait_for("unknown key")
        go(it, "why", node="nowhere")
        it.wait_for("is not a node")


def acts():
    """Buttons ask, do, and tell."""
    sql("DELETE FROM artist WHERE id = 'nina'")
    with Page() as it:
        it.wait_for("deleted 3 nodes")
        go(it, "batches")
        button(it, "Undo")
        it.wait("document.getElementById('ask').open", "the question")
        it.press("escape")
        it.wait("!document.getElementById('ask').open", "no question")
        assert ctl("why", "songs/10")[0]["state"] == "deleted", "Escape is no"
        agree(it, "Undo")
        it.wait_for("3 nodes restored")
        it.wait_for("1 reference leads to nothing")
        it.wait_for("undone by")
        assert ctl("why", "songs/10")[0]["state"] == "alive"
        go(it, "now")
        agree(it, "Pause")
        it.wait_for("Paused.")
        assert ctl("status")[0]["stores"][0]["state"] == "paused"
        agree(it, "Resume")
        it.wait_for("Resumed.")
        agree(it, "Sweep now")
        it.wait_for("Sweep done: 3 nodes deleted")


def approves():
    sql("DELETE FROM artist WHERE id = 'nina'")
    with Page() as it:
        it.wait_for("approve")
        it.wait("document.querySelector('nav .count')?.innerText === '1'", "a held plan is counted")
        go(it, "held")
        it.wait_for("It would delete 3 nodes.")
        it.wait_for("songs/11")
        assert "deleteSourceIfDestinationDeleted of album" in it.text(), it.text()
        agree(it, "Approve")
        it.wait_for("applied: 3 nodes deleted")
        it.wait_for("Nothing waits.")
        assert ctl("why", "songs/10")[0]["state"] == "deleted"


def lives():
    """What happens is there within a second, also a daemon that goes and comes back."""
    with Page() as it:
        it.wait_for("live")
        sql("DELETE FROM artist WHERE id = 'nina'")
        start = time.monotonic()
        it.wait_for("deleted 3 nodes", seconds=5)
        took = time.monotonic() - start
        assert took < 1, f"{took:.2f} s"
        daemon = int(sys.argv[4])
        os.kill(daemon, signal.SIGSTOP)
        it.wait("document.getElementById('connection').className === 'gone'", "it is told")
        os.kill(daemon, signal.SIGCONT)
        it.wait("document.getElementById('connection').className === ''", "it is told")


def keyboard():
    """Without a mouse: the views, a node, a question that is answered."""
    sql("DELETE FROM artist WHERE id = 'nina'")
    with Page() as it:
        it.wait_for("deleted 3 nodes")
        it.press("tab")
        assert it.run("return document.activeElement.className") == "skip"
        it.tab_to("Check")
        it.press("enter")
        it.wait_for("All is as the model says.")
        it.press("3")
        it.wait_for("an application's change")
        it.tab_to("Undo")
        it.press("enter")
        it.wait("document.getElementById('ask').open", "the question")
        it.press("tab", "enter")
        it.wait_for("3 nodes restored")
        it.press("/")
        it.wait("document.activeElement.matches('main input')", "the focus is in the field")
        it.press(*"albums/1", "enter")
        it.wait_for("Around it")
        it.run("document.querySelector('.picture a[aria-label=\"songs/10\"]').focus()")
        it.press("enter")
        it.wait("location.hash.includes('songs%2F10')", "the node of the box")


def narrow():
    """Nothing is wider than a phone, in either colour; the colours differ."""
    sql("DELETE FROM artist WHERE id = 'nina'")
    colours = set()
    for dark in [False, True]:
        for width in [375, 1200]:
            with Page(dark=dark, width=width, height=740) as it:
                it.wait_for("deleted 3 nodes")
                colours.add(it.run("return getComputedStyle(document.body).backgroundColor"))
                for view in ["now", "sweeps", "batches", "held", "why", "why?node=songs/10",
                             "why?node=albums/2", "check", "spool"]:
                    go(it, view)
                    wide = it.run("return document.documentElement.scrollWidth")
                    assert wide <= width, f"{view}: {wide} pixels wide at {width}"
                    assert it.run("return document.querySelector('main h1') !== null"), view
                    if PICTURES:
                        name = view.replace("?node=", "-").replace("/", "-")
                        shade = "dark" if dark else "light"
                        it.picture(f"{PICTURES}/{name}-{width}-{shade}.png")
    assert len(colours) == 2, colours


def several():
    """Of several stores, one is chosen, and asked."""
    stores = [store["store"] for store in ctl("status")[0]["stores"]]
    one, other = [next(s for s in stores if s.endswith(f"{n}.db")) for n in ["one", "two"]]
    with Page() as it:
        it.wait_for(other)
        it.run("const it = document.getElementById('store'); it.value = arguments[0];"
               "it.dispatchEvent(new Event('change'))", other)
        go(it, "why", node="a/1")
        it.wait_for("alive")
        it.run("const it = document.getElementById('store'); it.value = arguments[0];"
               "it.dispatchEvent(new Event('change'))", one)
        it.wait_for("It is not known")
        go(it, "now")
        it.wait_for("Sweep now")
        it.run("document.querySelector(`[data-key='pause-${arguments[0]}']`).click()", other)
        it.run("document.getElementById('ask-yes').click()")
        it.wait_for("Paused.")
        states = {s["store"]: s["state"] for s in ctl("status")[0]["stores"]}
        assert states == {one: "ok", other: "paused"}, states


def read_only():
    sql("DELETE FROM artist WHERE id = 'nina'")
    with Page("--read-only") as it:
        it.wait_for("live, read-only")
        for view in VIEWS:
            go(it, view.lower())
            labels = it.run("return [...document.querySelectorAll('main button')].map((b) => "
                            "b.innerText)")
            assert labels in ([], ["Explain"]), labels


def hostile():
    """Names of nodes that look like a page stay text."""
    name = "<img src=x onerror=alert(1)>"
    change = {"id": name, "author": name, "changes": [
        {"put": ["notes", name]}, {"put": ["notes", "x"]}, {"flush": True},
        {"link": {"name": name, "from": ["notes", name], "to": ["notes", "x"],
                  "rules": ["deleteSourceIfDestinationDeleted"]}}]}
    ctl("apply", "-", input=json.dumps(change))
    with Page() as it:
        go(it, "why", node="notes/x")
        it.wait_for("Around it")
        ctl("apply", "-", input=json.dumps(
            {"author": name, "changes": [{"delete": ["notes", "x"]}]}))
        go(it, "batches")
        it.wait_for(name)
        go(it, "why", node="notes/x")
        it.wait_for("Deleted")
        assert it.run("return document.querySelectorAll('img, iframe').length") == 0


globals()[WHAT]()
