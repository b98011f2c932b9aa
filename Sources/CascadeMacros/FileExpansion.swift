#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Prints what the macro makes of each declaration with `@Model` in a file.
func printExpansions(ofFile path: String) {
  guard let contents = FileManager.default.contents(atPath: path) else {
    print("cannot read \(path)")
    exit(66)
  }
  let source = String(decoding: contents, as: UTF8.self)
  for attributed in attributedDeclarations(in: source) {
    do throws(Problem) {
      let type = try Declaration(attributed.declaration)
      print(try Expansion(type, attribute: attributed.attribute).text() + "\n")
    } catch {
      print("\(path): \(error.message)")
      exit(65)
    }
  }
}

/// The attribute, and the source from it to the end of the declaration.
private func attributedDeclarations(
  in source: String
) -> [(attribute: String, declaration: String)] {
  let bytes = Array(source.utf8)
  let tokens = Tokenizer.tokens(of: source)
  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
  var found: [(String, String)] = []
  for index in tokens.indices.dropLast(2)
  where tokens[index].text == "@" && tokens[index + 1].text == "Model"
    && tokens[index + 2].text == "("
  {
    let close = end(of: tokens, from: index + 2)
    guard let open = tokens[close...].firstIndex(where: { $0.text == "{" }) else { continue }
    let last = end(of: tokens, from: open)
    let endOfAttribute = tokens[close].offset + 1
    found.append(
      (
        text(tokens[index].offset..<endOfAttribute),
        text(endOfAttribute..<(tokens[last].offset + 1))
      ))
  }
  return found
}

/// The place of the bracket that closes the one at `start`.
private func end(of tokens: [Token], from start: Int) -> Int {
  var depth = 0
  for index in start..<tokens.count {
    if tokens[index].text.opensGroup { depth += 1 }
    if tokens[index].text.closesGroup { depth -= 1 }
    if depth == 0 { return index }
  }
  return tokens.count - 1
}
