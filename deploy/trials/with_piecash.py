"""GnuCash's book, by piecash: splits go with their transaction, where a query of SQLAlchemy deletes
it and the session cascades nothing; a transaction goes with its last split. A slot has a GUID of
whatever it belongs to, and nothing says of what."""
import warnings

warnings.filterwarnings("ignore")

import piecash  # noqa: E402
from fixture import Store, is_sound  # noqa: E402

TABLES = ["accounts", "transactions", "splits", "commodities", "prices", "books"]
MODEL = {
    "collections": {**{name: {"table": name, "key": "guid"} for name in TABLES},
                    "slots": {"table": "slots", "key": "id"}},
    "relationships": [
        {"name": "parent", "from": "accounts", "to": "accounts", "column": "parent_guid",
         "rules": ["deleteSourceIfDestinationDeleted"]},
        {"name": "transaction", "from": "splits", "to": "transactions", "column": "tx_guid",
         "rules": ["deleteSourceIfDestinationDeleted", "deleteDestinationIfAllSourcesDeleted"]},
        {"name": "account", "from": "splits", "to": "accounts", "column": "account_guid",
         "rules": ["deleteSourceIfDestinationDeleted"]},
        {"name": "object", "from": "slots", "to": TABLES, "column": "obj_guid",
         "rules": ["deleteSourceIfDestinationDeleted"]}]}


def with_book(change):
    with piecash.open_book("book.gnucash", readonly=False, do_backup=False) as book:
        change(book)
        book.save()


def account(book, name):
    return piecash.Account(name, "EXPENSE", book.default_currency, parent=book.root_account)


def transfer(book, source, target, number):
    """piecash keeps the date of each transaction in a slot."""
    transaction = piecash.Transaction(
        book.default_currency, description=f"{source.name} {number}", splits=[
            piecash.Split(account=source, value=-number - 1),
            piecash.Split(account=target, value=number + 1)])
    transaction["notes"] = "of the family"
    transaction.splits[0]["memo"] = "by hand"


def fill(book):
    bank, food, rent = (account(book, name) for name in ("bank", "food", "rent"))
    rent["notes"] = "in advance"
    for number in range(10):
        transfer(book, bank, food, number)
        transfer(book, food, rent, number)


def delete_transactions(book, name):
    """By a query, for which the session cascades nothing."""
    book.session.query(piecash.Transaction).filter(
        piecash.Transaction.description.like(f"{name} %")).delete(synchronize_session=False)


def delete_accounts(book, *names):
    """By the session, which deletes their splits, too."""
    for name in names:
        book.delete(book.accounts(name=name))


def work():
    for number in range(8):
        with_book(lambda book: fill_pair(book, number))
        with_book(lambda book: delete_transactions(book, f"work {number}"))


def fill_pair(book, number):
    one, other = account(book, f"work {number}"), account(book, f"spare {number}")
    for value in range(5):
        transfer(book, one, other, value)


def main():
    book = piecash.create_book("book.gnucash", currency="EUR", overwrite=True)
    fill(book)
    book.save()
    book.close()
    with Store("book.gnucash", MODEL) as store:
        store.follow(lambda: with_book(lambda book: delete_transactions(book, "bank")), nodes=50)
        store.follow(
            lambda: with_book(lambda book: delete_accounts(book, "food", "rent")), nodes=30)
        store.live(work)
        store.detach()
    with_book(lambda book: fill_pair(book, 100))
    with piecash.open_book("book.gnucash") as book:
        assert len(book.transactions) == 15 and book.accounts(name="work 100").get_balance() == -15
    assert is_sound("book.gnucash")


main()
