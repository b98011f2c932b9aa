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

/// The answer, in JSON an object with the name of the case and its values.
enum Reply: Encodable {
  case getCapabilityResult(capability: Capability)
  case expandMacroResult(expandedSource: String? = nil, diagnostics: [Diagnostic] = [])

  struct Capability: Encodable {
    var protocolVersion = 7
    var features: [String] = []
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
    if request.getCapability != nil {
      return .getCapabilityResult(capability: Reply.Capability())
    }
    return request.expandAttachedMacro.map(expand) ?? .expandMacroResult()
  }

  private static func expand(_ asked: Request.Macro) -> Reply {
    if asked.macro.typeName != "ModelMacro" { return .expandMacroResult(expandedSource: "") }
    do throws(Problem) {
      let type = try Declaration(asked.declSyntax.source)
      let expansion = try Expansion(
        type, attribute: asked.attributeSyntax.source, name: asked.extendedTypeSyntax?.source)
      return .expandMacroResult(expandedSource: expansion.text())
    } catch {
      return .expandMacroResult(diagnostics: [diagnostic(error, asked.declSyntax.location)])
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
