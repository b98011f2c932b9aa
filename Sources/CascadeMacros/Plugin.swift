/// What the compiler asks, as far as it is answered here.
struct Request: Decodable {
  let getCapability: Capability?
  let expandAttachedMacro: Macro?
  let expandFreestandingMacro: Freestanding?

  struct Capability: Decodable {}

  struct Macro: Decodable {
    let macro: Name
    let attributeSyntax: Syntax
    let declSyntax: Syntax
    let extendedTypeSyntax: Syntax?
  }

  struct Freestanding: Decodable {
    let syntax: Syntax
  }

  struct Name: Decodable { let typeName: String }

  struct Syntax: Decodable {
    let source: String
    let location: Location?
  }

  struct Location: Decodable {
    let fileName: String
    let offset: Int
    let line: Int?
    let column: Int?
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
    if let asked = request.expandFreestandingMacro { return expand(asked.syntax) }
    return request.expandAttachedMacro.map(expand) ?? .expandMacroResult()
  }

  /// The place where a relationship is made. The macro is in the default value of a parameter: its
  /// source begins at the start of the file, with line breaks and blanks up to the call.
  private static func expand(_ place: Request.Syntax) -> Reply {
    let blanks = place.source.utf8.prefix { $0 != UInt8(ascii: "#") }
    let lines = blanks.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let line = (place.location?.line ?? 1) + lines.count - 1
    let column = (lines.count > 1 ? 1 : place.location?.column ?? 1) + (lines.last?.count ?? 0)
    let site = place.location.flatMap { SourceFiles.text(of: $0.fileName) }
      .flatMap { CallSite(line: line, column: column, in: $0) }
    let problem = site?.objection.map { Problem(message: $0, offset: blanks.count) }
    return .expandMacroResult(
      expandedSource: "CascadeKit.DeclaredPlace()",
      diagnostics: problem.map { [diagnostic($0, place.location)] } ?? [])
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
