/// What the compiler asks, as far as it is answered here.
struct Request: Decodable {
  let getCapability: Capability?
  let expandAttachedMacro: Macro?

  struct Capability: Decodable {}

  struct Macro: Decodable {
    let macro: Name
    let attributeSyntax: Syntax
    let declSyntax: Syntax
    let extendedTypeSyntax: Syntax?
  }

  struct Name: Decodable { let typeName: String }

  struct Syntax: Decodable {
    let source: String
    let location: Location?
  }

  struct Location: Decodable {
    let fileName: String
    let offset: Int
  }
}

/// The answer: one of the results.
struct Reply: Encodable {
  var getCapabilityResult: CapabilityResult?
  var expandMacroResult: Expanded?

  struct CapabilityResult: Encodable {
    var capability = Capability()
  }

  struct Capability: Encodable {
    var protocolVersion = 7
    var features: [String] = []
  }

  struct Expanded: Encodable {
    var expandedSource: String?
    var diagnostics: [Diagnostic] = []
  }

  /// An error at its place in the user's file.
  struct Diagnostic: Encodable {
    let message: String
    let position: Position
    var severity = "error"
    var highlights: [Position] = []
    var notes: [String] = []
    var fixIts: [String] = []
  }

  struct Position: Encodable {
    let fileName: String
    let offset: Int
  }
}

/// Answers the compiler.
enum Plugin {
  static func reply(to request: Request) -> Reply {
    if request.getCapability != nil { return Reply(getCapabilityResult: .init()) }
    guard let asked = request.expandAttachedMacro else { return Reply(expandMacroResult: .init()) }
    return Reply(expandMacroResult: expand(asked))
  }

  private static func expand(_ asked: Request.Macro) -> Reply.Expanded {
    if asked.macro.typeName != "ModelMacro" { return Reply.Expanded(expandedSource: "") }
    do throws(Problem) {
      let type = try Declaration(asked.declSyntax.source)
      let expansion = try Expansion(
        type, attribute: asked.attributeSyntax.source, name: asked.extendedTypeSyntax?.source)
      return Reply.Expanded(expandedSource: expansion.text())
    } catch {
      return Reply.Expanded(diagnostics: [diagnostic(error, asked.declSyntax.location)])
    }
  }

  private static func diagnostic(
    _ problem: Problem, _ start: Request.Location?
  ) -> Reply.Diagnostic {
    Reply.Diagnostic(
      message: problem.message,
      position: Reply.Position(
        fileName: start?.fileName ?? "", offset: (start?.offset ?? 0) + problem.offset))
  }
}
