"""MediaWiki moves what it deletes to its archive, and back. With the rules that `cascadectl
suggest` writes as comments, taken as they are, what belongs to a deleted page comes back with it."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

from fixture import BIN, FOREIGN, Store, is_sound

sys.path.insert(0, str(FOREIGN))
from mediawiki import MediaWiki

RULE = '["deleteSourceIfDestinationDeleted"]'
PAGES = [f"Page {number}" for number in (3, 8, 15, 50)]


def accepted(model):
    """The model after an operator took each rule that stands beside a relationship as a comment,
    except where the comment says that the model lacks a table."""
    head, *relationships = re.split(r"(?=^    \{ name: )", model, flags=re.MULTILINE)
    return head + "".join(
        one.replace("rules: [] }", f"rules: {RULE} }}")
        if "would delete a row" in one and '"to" must have both' not in " ".join(one.split())
        else one for one in relationships)


def as_json(model):
    model = re.sub(r"^ *//.*", "", model, flags=re.MULTILINE)
    model = re.sub(r"(?<=[{, ])(\w+): ", r'"\1": ', model)
    return json.loads(re.sub(r",(\s*[}\]])", r"\1", model))


def delete(wiki, model):
    """Pages are deleted, and what follows by the model: the rows before and after."""
    with Store(wiki.database, model) as store:
        store.sweep("cascade")
        before = store.dump()
        wiki.run("deleteBatch", "-u", "Admin", str(pathlib.Path("pages").resolve()))
        swept = store.sweep("cascade")
        after = store.dump()
        store.detach()
    return before, after, swept["byCollection"]


def main():
    wiki = MediaWiki()
    wiki.fill()
    pathlib.Path("pages").write_text("\n".join(PAGES))
    shutil.copy(wiki.database, "filled.db")
    texts = {page: wiki.run("getText", page) for page in PAGES}
    suggested = subprocess.check_output([BIN / "cascadectl", "suggest", wiki.database], text=True)
    model = as_json(accepted(suggested))
    slots = next(one for one in model["relationships"]
                 if one["from"] == "slots" and "revision" in one["to"])
    assert slots["to"] == ["revision", "archive"] and slots["rules"], slots

    before, after, gone = delete(wiki, model)
    assert after["slots"] == before["slots"], f"slots are lost: {gone}"
    for page in PAGES:
        wiki.run("undelete", page)
    assert {page: wiki.run("getText", page) for page in PAGES} == texts
    print(f"# {len(PAGES)} pages came back")

    slots["to"] = "revision"  # as it is where nobody knows of the archive
    shutil.copy("filled.db", wiki.database)
    before, after, gone = delete(wiki, model)
    assert len(after["slots"]) < len(before["slots"]), "a rule to revisions alone loses nothing"
    print(f"# with a rule to revisions alone, {gone['slots']} slots would have been lost")
    assert is_sound(wiki.database)


main()
