/// Measures readers of change lines: `parsers model|document|foundation [LINES]`, `parsers generate`.
import FoundationEssentials

let lines = CommandLine.arguments.count > 2 ? Int(CommandLine.arguments[2]) ?? 0 : 1_000_000
let input = Lines(count: lines)

switch CommandLine.arguments.dropFirst().first {
case "generate": print(String(decoding: input.bytes, as: UTF8.self), terminator: "")
case "model": try report("Model.ChangeLineParser", input) { try input.countWithModel() }
case "document":
  let file = input.document()
  try report("Model.ChangeDocument", input) { try Lines.count(document: file) }
case "foundation":
  try report("FoundationEssentials.JSONDecoder", input) { try input.countWithFoundation() }
default: print("usage: parsers generate|model|document|foundation [LINES]")
}

/// The best of ten, as the other programs do.
func report(_ name: String, _ input: Lines, _ count: () throws -> Int) rethrows {
  var best = Duration.seconds(1000)
  for _ in 0..<10 {
    let start = ContinuousClock.now
    let counted = try count()
    best = min(best, .now - start)
    precondition(counted == input.starts.count)
  }
  let megabytes = Double(input.bytes.count) / 1e6
  print("\(name) \(Int(megabytes / (best / .seconds(1)))) MB/s")
}
