internal import CascadeModel

/// Answers the compiler.
enum Plugin {
  static func reply(to message: JSON) -> JSON {
    if message["getCapability"] != nil {
      return ["getCapabilityResult": ["capability": ["protocolVersion": 7, "features": []]]]
    }
    guard let request = message["expandAttachedMacro"] else { return result(nil, []) }
    guard request["macro"]?["typeName"]?.string == "ModelMacro" else { return result("", []) }
    return expand(request)
  }

  private static func expand(_ request: JSON) -> JSON {
    let declaration = request["declSyntax"]
    let attribute = request["attributeSyntax"]?["source"]?.string ?? ""
    let name = request["extendedTypeSyntax"]?["source"]?.string
    do throws(Problem) {
      let type = try Declaration(declaration?["source"]?.string ?? "")
      return result(try Expansion(type, attribute: attribute, name: name).text(), [])
    } catch {
      return result(nil, [diagnostic(error, declaration?["location"])])
    }
  }

  private static func result(_ text: String?, _ diagnostics: [JSON]) -> JSON {
    [
      "expandMacroResult": [
        "expandedSource": text.map(JSON.string) ?? .null, "diagnostics": .array(diagnostics),
      ]
    ]
  }

  /// An error at its place in the user's file.
  private static func diagnostic(_ problem: Problem, _ location: JSON?) -> JSON {
    let start = location?["offset"]?.integer ?? 0
    let position: JSON = [
      "fileName": location?["fileName"] ?? "", "offset": .integer(start + Int64(problem.offset)),
    ]
    return [
      "message": .string(problem.message), "severity": "error", "position": position,
      "highlights": [], "notes": [], "fixIts": [],
    ]
  }
}
