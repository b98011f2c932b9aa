"""newsboat: a feed goes with its last article, when newsboat deletes the articles that are too old.

newsboat has no busy timeout: it ends with an error if the daemon writes at the same moment. So its
model says `exclusive`, and the daemon takes its turn between two runs."""
import pathlib
import subprocess

from fixture import Store, dump, is_sound

MODEL = {
    "exclusive": True,
    "collections": {"feeds": {"table": "rss_feed", "key": "rssurl"},
                    "articles": {"table": "rss_item", "key": "id"}},
    "relationships": [{
        "name": "feed", "from": "articles", "to": "feeds", "column": "feedurl", "rules": [
            "deleteSourceIfDestinationDeleted", "deleteDestinationIfAllSourcesDeleted"]}]}
FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>{0}</title>
<link>http://example.org/{0}</link><description>d</description>{1}</channel></rss>"""
ITEM = """<item><title>{0} {1}</title><guid>{0}-{1}</guid><link>http://example.org/{0}/{1}</link>
<pubDate>{2}</pubDate></item>"""
OLD, NEW = "Mon, 01 Jan 2001 00:00:00 GMT", "Tue, 01 Jan 2030 00:00:00 GMT"


def newsboat(command, store=None, days=0):
    def run():
        subprocess.run(
            ["newsboat", "-C", "settings", "-u", "urls", "-c", "cache.db", "-x", command],
            check=True, stdout=subprocess.DEVNULL)

    pathlib.Path("settings").write_text(f"keep-articles-days {days}\n")
    if store:
        store.between_turns(run, subprocess.CalledProcessError)
    else:
        run()


def subscribe(name, dates):
    items = "".join(ITEM.format(name, number, date) for number, date in enumerate(dates))
    path = pathlib.Path(f"{name}.xml").resolve()
    path.write_text(FEED.format(name, items))
    with open("urls", "a") as urls:
        print(f"file://{path}", file=urls)


def clean_up(store):
    newsboat("print-unread", store, days=30)


def work(store):
    for number in range(10):
        subscribe(f"work-{number}", [OLD] * 3)
        newsboat("reload", store)
        clean_up(store)


def main():
    subscribe("old", [OLD] * 5)
    subscribe("both", [OLD, NEW])
    subscribe("new", [NEW] * 5)
    newsboat("reload")
    with Store("cache.db", MODEL) as store:
        store.follow(lambda: clean_up(store), nodes=1)
        store.live(lambda: work(store))
        store.detach()
    names = {feed["title"]: feed["rssurl"] for feed in dump("cache.db")["rss_feed"]}
    assert names.keys() == {"both", "new"}
    newsboat("reload")
    assert len(dump("cache.db")["rss_item"]) == 42
    assert is_sound("cache.db")


main()
