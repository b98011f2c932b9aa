"""What must follow from a change: the meaning of the rules over dumps, without SQL and daemon.

A dump is {table: [row…]}, a row a dict by column. A model is what the daemon gets, as Python
values; its relationships are columns, also without a type for several collections, types beside
columns, and join tables. A node is (collection, values of its key).
"""
import collections

Edge = collections.namedtuple("Edge", "relationship source destination")


def values(row, columns):
    return tuple(row[column] for column in as_list(columns))


def as_list(value):
    return value if isinstance(value, list) else [value]


def nodes_by_row(model, dump, name):
    collection = model["collections"][name]
    return [((name, values(row, collection["key"])), row) for row in dump[collection["table"]]]


def nodes(model, dump):
    return {node for name in model["collections"] for node, _ in nodes_by_row(model, dump, name)}


def relationships(model):
    return [one for one in model["relationships"] if "files" not in one["to"]]


def place(model, relationship):
    """The table with the references, the columns of the source's key and of the destination's."""
    if join := relationship.get("join"):
        return join["table"], join["source"], join["destination"]
    collection = model["collections"][relationship["from"]]
    return collection["table"], collection["key"], relationship["column"]


def row_edges(relationship, row, source, destination, there):
    """The edges of a row: NULL and what the model calls none refer to nothing. A reference without a
    type leads to each collection that has its key, or to nothing in the first one."""
    to, key = relationship["to"], values(row, destination)
    if "typeColumn" in relationship:
        to = to.get(str(row[relationship["typeColumn"]]))
    if to is None or any(value in [None, *relationship.get("none", [])] for value in key):
        return []
    ends = [(name, key) for name in as_list(to)]
    if len(ends) > 1:
        ends = [end for end in ends if end in there] or ends[:1]
    return [Edge(relationship["name"], (relationship["from"], values(row, source)), end)
            for end in ends]


def edges(model, dump, there):
    """The rules of each edge; `there` are the nodes that a reference without a type may name."""
    found = {}
    for relationship in relationships(model):
        table, source, destination = place(model, relationship)
        for row in dump[table]:
            for one in row_edges(relationship, row, source, destination, there):
                found[one] = set(relationship["rules"])
    return found


def followers(known, removed, gone):
    """What the rules delete because these nodes have gone and these edges were removed."""
    remaining = [one for one in known if one not in removed
                 and one.source not in gone and one.destination not in gone]
    sources = {(one.relationship, one.source) for one in remaining}
    destinations = {(one.relationship, one.destination) for one in remaining}
    # Of references without a type, only one may have lost its end.
    references = {(one.relationship, one.source, one.destination[1]) for one in remaining}
    for one, rules in known.items():
        has_source = one.source not in gone and one not in removed
        has_destination = one.destination not in gone
        if has_destination and not has_source:
            last = (one.relationship, one.destination) not in destinations
            if ("deleteDestinationIfSourceDeleted" in rules
                    or last and "deleteDestinationIfAllSourcesDeleted" in rules):
                yield one.destination
        reference = (one.relationship, one.source, one.destination[1])
        if has_source and not has_destination and reference not in references:
            last = (one.relationship, one.source) not in sources
            if ("deleteSourceIfDestinationDeleted" in rules
                    or last and "deleteSourceIfAllDestinationsDeleted" in rules):
                yield one.source


def gone(model, before, between):
    """The nodes that the application's change deleted, and those that must follow."""
    present = nodes(model, between)
    there = nodes(model, before) | present
    old, new = edges(model, before, there), edges(model, between, there)
    known, removed = old | new, old.keys() - new.keys()
    found = (there | {one.destination for one in known}) - present
    while more := set(followers(known, removed, found)) - found:
        found |= more
    return found


def expected(model, before, between):
    """The dump after the sweep, and how many nodes it deletes."""
    missing = gone(model, before, between)
    left = nullified(model, between, missing)
    for name, collection in model["collections"].items():
        left[collection["table"]] = [
            row for node, row in nodes_by_row(model, left, name) if node not in missing]
    for relationship in relationships(model):
        if "join" in relationship:
            table = relationship["join"]["table"]
            there = nodes(model, between) | missing
            left[table] = [row for row in left[table]
                           if not has_lost(model, relationship, row, missing, there)]
    return left, len(missing & nodes(model, between))


def undone(model, before, between):
    """The dump after an undo: a reference stays null, as its destination is not back."""
    return nullified(model, between, gone(model, before, between))


def nullified(model, dump, missing):
    left = dict(dump)
    there = nodes(model, dump) | missing
    for relationship in relationships(model):
        if "nullifySourceIfDestinationDeleted" in relationship["rules"]:
            table = place(model, relationship)[0]
            null = dict.fromkeys(as_list(relationship["column"]))
            left[table] = [
                row | null if has_lost(model, relationship, row, missing, there) else row
                for row in left[table]]
    return left


def has_lost(model, relationship, row, missing, there):
    """Whether all edges of a row led to or from nodes that have gone."""
    found = row_edges(relationship, row, *place(model, relationship)[1:], there)
    return bool(found) and all({one.source, one.destination} & missing for one in found)
