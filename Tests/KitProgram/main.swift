import CascadeKit
import CascadeSystem

// A program of a user's, which tests start, watch and kill.

let arguments = Array(CommandLine.arguments.dropFirst())
let usage = """
  usage: KitProgram write STORE socket|spool ID KEY   puts a tag, in a transaction with that id
                    lease STORE KEY                   holds a tag until it is killed
                    watch STORE                       prints the number of tags when it changes, and the time
                    retitle STORE ID COUNT            changes the title of a song so often
                    read STORE WHAT                   times rows, each, objects, inverse or count
                    writes STORE COUNT WRITERS        times writes with receipts
                    put STORE COUNT                   times one write of so many songs
                    puts COUNT                        prints the change file of such a write
                    idle STORE                        reads once, and rests
  """

/// Prints a line at once.
func say(_ line: String) { StandardStream.output.write("\(line)\n") }

switch (arguments.first, arguments.count) {
case ("write", 5):
  var transaction = Transaction(id: UUIDv7(arguments[3])!)
  try transaction.put(Tag(id: ID(arguments[4]), color: "red"))
  let way: Store.Way = arguments[2] == "spool" ? .spool : .socket
  print(try await Store(arguments[1]).submit(transaction, by: way).outcome)
case ("lease", 3):
  try await Store(arguments[1]).withLease(on: ID<Tag>(arguments[2])) {
    say("held")
    while true { try await Task.sleep(for: .seconds(60)) }
  }
case ("watch", 2):
  for try await count in Store(arguments[1]).values(of: { db in try db.count(Tag.all) }) {
    say("\(count) \(SystemClock.monotonicMicroseconds())")
  }
case ("retitle", 4):
  let store = Store(arguments[1], author: "retitle")
  let song = try await store.read { db in try db.get(ID<Song>(UUIDv7(arguments[2])!))! }
  for number in 1...Int(arguments[3])! {
    try await store.write { tx in try tx.edit(song) { $0.title = "title \(number)" } }
  }
case ("read", 3): try await Timing.read(arguments[2], arguments[1])
case ("writes", 4):
  try await Timing.write(arguments[1], Int(arguments[2])!, writers: Int(arguments[3])!)
case ("put", 3): try await Timing.put(arguments[1], Int(arguments[2])!)
case ("puts", 2): try Timing.printPuts(Int(arguments[1])!)
case ("idle", 2):
  _ = try await Store(arguments[1]).read { db in try db.count(Album.all) }
  say("read")
  while true { try await Task.sleep(for: .seconds(60)) }
default:
  print(usage)
}
