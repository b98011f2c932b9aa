"""Redmine: its operations while what it deletes is followed at once, with the lines of the guide
that make its old Rails begin with the lock, and without them."""
import json
import pathlib
import shutil
import sys

from fixture import FOREIGN, Store, guide_lines, is_sound

sys.path.insert(0, str(FOREIGN))
from redmine import Redmine

DATABASE = pathlib.Path("redmine.db")

# What goes with what, and what is only forgotten with it: table, column, table.
FOLLOWS = """
issues.project_id projects, issues.parent_id issues, time_entries.issue_id issues,
time_entries.project_id projects, issue_relations.issue_from_id issues,
issue_relations.issue_to_id issues, journal_details.journal_id journals,
members.project_id projects, members.user_id users, member_roles.member_id members,
email_addresses.user_id users, enabled_modules.project_id projects, versions.project_id projects,
issue_categories.project_id projects, custom_values.custom_field_id custom_fields,
wikis.project_id projects, wiki_pages.wiki_id wikis, wiki_contents.page_id wiki_pages,
wiki_content_versions.page_id wiki_pages, boards.project_id projects, messages.board_id boards,
messages.parent_id messages, news.project_id projects, documents.project_id projects,
repositories.project_id projects, changesets.repository_id repositories,
changes.changeset_id changesets, queries.project_id projects"""
FORGETS = """
issues.category_id issue_categories, issues.fixed_version_id versions, issues.assigned_to_id users,
issue_categories.assigned_to_id users, boards.last_message_id messages,
messages.last_reply_id messages, projects.default_version_id versions, changesets.user_id users"""
TYPED = {
    "journals.journalized": {"Issue": "issues"}, "comments.commented": {"News": "news"},
    "watchers.watchable": {"Issue": "issues", "Board": "boards", "Message": "messages",
                           "WikiPage": "wiki_pages", "News": "news"},
    "attachments.container": {"Issue": "issues", "WikiPage": "wiki_pages", "Message": "messages",
                              "Document": "documents", "Project": "projects"},
    "custom_values.customized": {"Issue": "issues", "Principal": "users", "Project": "projects"}}
DELETE, NULLIFY = "deleteSourceIfDestinationDeleted", "nullifySourceIfDestinationDeleted"


def columns(text, rule):
    for one in text.split(","):
        place, to = one.split()
        table, column = place.split(".")
        yield {"name": column.removesuffix("_id"), "from": table, "to": to, "column": column,
               "rules": [rule]}


def typed():
    for place, to in TYPED.items():
        table, name = place.split(".")
        yield {"name": name, "from": table, "column": f"{name}_id", "typeColumn": f"{name}_type",
               "to": to, "rules": [DELETE]}


def model():
    relationships = [*columns(FOLLOWS, DELETE), *columns(FORGETS, NULLIFY), *typed()]
    tables = {one["from"] for one in relationships}
    for one in relationships:
        to = one["to"]
        tables |= set(to.values()) if isinstance(to, dict) else {to}
    return {"collections": {name: {"table": name, "key": "id"} for name in sorted(tables)},
            "relationships": relationships}


def work(redmine, lines):
    """Redmine's operations with these lines of Ruby: how many there were, and which failed."""
    (redmine.directory / "config/initializers/begin_immediately.rb").write_text(lines)
    for name in pathlib.Path().glob("redmine.db*"):
        shutil.rmtree(name) if name.is_dir() else name.unlink()
    shutil.copy("new.db", DATABASE)
    with Store(DATABASE, model()) as store:
        done = []
        store.live(lambda: done.append(redmine.ask("redmine.rb")))
        found = [json.loads(line) for line in store.command("check").stdout.splitlines()]
        assert all(one["kind"] == "missingIndex" for one in found), found
        batches = len(store.ask("batches"))
        store.detach()
    assert is_sound(DATABASE)
    return done[0], batches


def main():
    redmine = Redmine("redmine", DATABASE)
    DATABASE.rename("new.db")
    begin_immediately = guide_lines("frameworks.md", "ruby", "begin_db_transaction")
    for what, lines in (("without", ""), ("with", begin_immediately)):
        done, batches = work(redmine, lines)
        names = f": {', '.join(done['failed'])}" if done["failed"] else ""
        print(f"# {what} the lines of the guide {len(done['failed'])} of {done['operations']} "
              f"operations failed beside {batches} sweeps that deleted something{names}")
        assert batches >= 4, "there was little to sweep"
    assert not done["failed"], "the lines of the guide do not help"


main()
