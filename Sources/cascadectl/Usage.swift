/// The text of `--help`.
enum Usage {
  static let text = """
    usage: cascadectl [--socket PATH | --store STORE.db | --instance NAME]
                      [--json] [--quiet] COMMAND

      status                                what is served, and how it is
      apply FILE... | -                     submits change files and waits
      node NODE                             a node as it is stored
      nodes COLLECTION                      the nodes of a collection
      edges [--name N] [--from NODE] [--to NODE | FILE] [--count]
      fetch [--refresh] NODE NAME           what a fetched property leads to
      plan NODE...                          what deleting them would take along
      graph NODE [--format dot | svg] [--depth N] [--limit N]
                                            its neighbourhood, for Graphviz
      why NODE | FILE                       why it is there, or why it went
      sweep [KIND...] [--dry-run] [--no-wait]
                                            cascade, refcount, dangling, unreachable, files,
                                            trash, all
      lease NODE... [--collection C] [--owner NAME] [--for 15m]
                                            holds what is not referenced yet: for a time, or
                                            until this is interrupted
      lease --list                          who holds what
      lease --release NODE... [--collection C] [--owner NAME]
      batches [--after N]                   what was deleted together
      undo BATCH                            brings back what a batch deleted
      notices [--after N] [--follow]        messages for survivors
      ack N                                 forgets the notices up to N
      spool [list | retry FILE | drop FILE] the files that wait or were rejected
      approve PLAN                          lets a held plan pass, once
      check [--repair] [--limit N]          what is not as the model says
      pause, resume                         nothing is done in between
      reload                                reads the models again
      events [--after N] [--follow]         what happened, as it happens
      metrics                               for Prometheus, in the OpenMetrics format
      attach [--create-indexes]             makes the tables, triggers and indexes
      detach                                takes everything of Cascade's out of the store
      inspect FILE.db [--root DIR] [--html FILE] [--format dot | svg]
                                            what refers to what in any database, and what is
                                            broken; needs no daemon
      suggest FILE.db                       a model for it; needs no daemon

    A NODE is collection/key, or ["collection", "key"].
    Exit status: 0 done, 1 check found something, 3 held, 4 blocked or denied, 64 usage,
    65 bad data or no database, 66 a file cannot be read, 69 no such store, 74 the output cannot be written,
    75 the daemon is not there or busy, 77 not allowed, 78 bad configuration.
    """
}

struct UsageError: Error {
  let text: String
  init(_ text: String) { self.text = text }
}
