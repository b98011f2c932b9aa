/// The text of `--help`.
enum Usage {
  static let text = """
    usage: cascadectl [--socket PATH | --store STORE.db | --instance NAME]
                      [--json] [--quiet] COMMAND

      status [--not-ok]                     the served stores and their state, or only those in trouble
      apply FILE... | -                     submits change files and waits for the result
      node NODE                             a node as it is stored
      nodes COLLECTION                      the nodes of a collection
      edges [--name N] [--from NODE] [--to NODE | FILE] [--count]
      fetch [--refresh] NODE NAME           the nodes that a fetched property finds
      plan NODE... | PLAN                   what deleting them, or a held plan, would delete
      graph NODE [--format dot | svg] [--depth N] [--limit N]
                                            the surroundings of a node, for Graphviz
      why NODE | FILE                       why it exists, or why it was deleted
      sweep [KIND...] [--dry-run] [--no-wait]
                                            cascade, refcount, dangling, unreachable,
                                            unreferenced, files, trash, expired, all
      lease NODE... [--collection C] [--owner NAME] [--for 15m]
                                            keeps nodes that nothing refers to yet: for a time,
                                            or until the command is interrupted
      lease --list                          current leases
      lease --release NODE... [--collection C] [--owner NAME]
                                            ends leases
      batches [--after N | --last N] [--since TIME]
                                            the deletions that can be undone, in batches
      undo BATCH                            restores what a batch deleted
      undo NODE                             restores one node with what went because of it
      delete NODE... | COLLECTION --where SQL [--dry-run] [--expect N] [--partial] [--no-wait]
                                            deletes them, with all that follows, in steps
      erase NODE [--dry-run] [--expect N] [--report FILE] [--accept TABLE.COLUMN...] [--vacuum]
                                            deletes it so that nothing is left of it
      jobs [--after N]                      the deletions that began here
      cancel JOB                            ends one; what it deleted can be undone
      protect NODE --reason TEXT [--until TIME]
                                            keeps a node, and what would go with it, from every
                                            deletion
      unprotect NODE                        lets it be deleted again
      protections                           the protected nodes
      deleted [COLLECTION] [--after N] [--follow] [--values]
                                            the nodes that went, each under a number of its own
      notices [--after N] [--follow]        messages about lost edges, for the remaining nodes
      ack N                                 deletes the notices up to N
      spool [list | retry FILE | drop FILE] waiting, held and rejected change files
      approve PLAN                          allows a held plan once
      reject PLAN                           gives up what a held plan would delete
      check [--repair] [--limit N]          finds deviations from the model
      pause, resume                         stop and continue all work
      reload                                reads the models again
      events [--after N] [--follow]         recent events, and new ones as they happen
      top                                   a live view of all stores on the terminal
      web [--port N] [--read-only]          a page for a browser on this machine
      metrics [--format openmetrics | prometheus] [--all]
                                            metrics for Prometheus; with --all, all of each store,
                                            however many there are
      attach [--create-indexes [--yes]] [--create-constraints] [--create-functions]
                                            creates the tables, triggers and indexes
      detach                                removes everything of Cascade from the store
      migrate begin, migrate end            lets the application rebuild its tables in between
      roots take [ROOT...]                  makes roots of files this store's
      inspect FILE.db [--root DIR] [--html FILE] [--format dot | svg]
                                            finds the references in a database, and orphans;
                                            needs no daemon
      suggest FILE.db                       prints a model for a database; needs no daemon

    A NODE is collection/key, or ["collection", "key"].
    Exit status: 0 done, 1 check found something, 3 held, 4 blocked or denied, 64 usage,
    65 bad data or no database, 66 a file cannot be read, 69 no such store,
    74 the output cannot be written, 75 the daemon is not running or is busy, 77 not allowed,
    78 bad configuration.
    """
}

struct UsageError: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
  init(_ text: String) { self.text = text }
}
