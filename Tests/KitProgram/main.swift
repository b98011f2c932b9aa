import CascadeKit
import CascadeSystem

// A program of a user's, which tests start, watch and kill.

let arguments = Array(CommandLine.arguments.dropFirst())
let usage = """
  usage: KitProgram write STORE socket|spool ID KEY   puts a tag, in a transaction with that id
                    lease STORE KEY                   holds a tag until it is killed
                    watch STORE                       prints the number of tags when it changes, and the time
                    retitle STORE ID COUNT            changes the title of a song so often
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
default:
  print(usage)
}
