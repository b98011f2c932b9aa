"""Alembic and SQLAlchemy: autogenerate proposes to drop Cascade's tables until it is told to pass
them over; a batch migration rebuilds a table between `migrate begin` and `migrate end`."""
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from fixture import Store, is_sound, schema
from sqlalchemy.orm import Session, declarative_base

Base = declarative_base()


class Author(Base):
    __tablename__ = "author"
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.String)


class Book(Base):
    __tablename__ = "book"
    id = sa.Column(sa.Integer, primary_key=True)
    title = sa.Column(sa.String)
    author_id = sa.Column(sa.Integer, index=True)


class Loan(Base):
    __tablename__ = "loan"
    id = sa.Column(sa.Integer, primary_key=True)
    book_id = sa.Column(sa.Integer, index=True)


MODEL = {
    "collections": {name: {"table": name, "key": "id"} for name in ("author", "book", "loan")},
    "relationships": [
        {"name": "author", "from": "book", "to": "author", "column": "author_id", "rules": [
            "deleteSourceIfDestinationDeleted", "deleteDestinationIfAllSourcesDeleted"]},
        {"name": "book", "from": "loan", "to": "book", "column": "book_id",
         "rules": ["denyDestinationDeletion"]}]}
engine = sa.create_engine("sqlite:///library.db", connect_args={"timeout": 30})


@sa.event.listens_for(engine, "connect")
def leave_transactions_to_sqlalchemy(connection, _):
    connection.isolation_level = None


@sa.event.listens_for(engine, "begin")
def begin_immediately(connection):
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def add_author(name, loans=0):
    with Session(engine) as session, session.begin():
        author = Author(name=name)
        session.add(author)
        session.flush()
        books = [Book(title=f"{name} {number}", author_id=author.id) for number in range(5)]
        session.add_all(books)
        session.flush()
        session.add_all(Loan(book_id=book.id) for book in books[:loans])


def delete_author(name):
    with Session(engine) as session, session.begin():
        session.delete(session.query(Author).filter_by(name=name).one())


def work():
    for number in range(20):
        add_author(f"work {number}")
        delete_author(f"work {number}")


def is_not_ours(name, kind, parents):
    """The value of include_name: what autogenerate reads from the database."""
    return not (name or "").startswith("cascade_")


def differences(**options):
    with engine.connect() as connection:
        return compare_metadata(
            MigrationContext.configure(connection, opts=options), Base.metadata)


def rebuild_loans(connection):
    operations = Operations(MigrationContext.configure(connection))
    with operations.batch_alter_table("loan", recreate="always") as loan:
        loan.add_column(sa.Column("reader", sa.String(200)))


def is_refused(change):
    try:
        with engine.begin() as connection:
            change(connection)
    except sa.exc.OperationalError as error:
        return "error in trigger cascade_deny" in str(error)


def migrate(store):
    assert is_refused(rebuild_loans)
    store.ask("migrate", "begin")
    with engine.begin() as connection:
        rebuild_loans(connection)
    store.ask("migrate", "end")
    store.schema = schema("library.db")
    assert "VARCHAR(200)" in str(store.schema)
    assert store.command("check").returncode == 0


def main():
    Base.metadata.create_all(engine)
    for name in ("ada", "ben"):
        add_author(name)
    add_author("eve", loans=1)
    assert not differences()
    with Store("library.db", MODEL) as store:
        assert all(one[1].name.startswith("cascade_") for one in differences())
        assert differences() and not differences(include_name=is_not_ours)
        store.follow(lambda: delete_author("ada"), nodes=5)
        migrate(store)
        store.follow(lambda: delete_author("ben"), nodes=5)
        store.live(work)
        store.detach()
    assert not [one for one in differences() if one[0] != "remove_column"]
    add_author("eli")
    assert is_sound("library.db")


main()
