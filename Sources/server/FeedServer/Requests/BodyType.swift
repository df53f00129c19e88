import HTTP

/// The type of body that a route requires.
enum BodyType {
  case record
  case records
  /// RFC 7396.
  case mergePatch

  /// The supported content codings (RFC 9110 section 8.4.1): the bytes of an import tell which one it is.
  private var codings: [String] {
    switch self {
    case .record, .mergePatch: ["identity"]
    case .records: ["gzip", "x-gzip", "zstd", "identity"]
    }
  }

  private var accepted: [String] {
    switch self {
    case .record: ["application/json"]
    case .mergePatch: ["application/merge-patch+json"]
    case .records:
      ["application/x-ndjson", "application/ndjson", "application/jsonl", "application/json"]
    }
  }

  /// Checks the declared type. A body without a type is taken for the right one (RFC 9110 section 8.3).
  ///
  /// - Throws: `Problem` 415 if the body has another type or an unsupported coding.
  func check(_ fields: Fields) throws {
    if let coding = fields.combined("Content-Encoding"), !codings.contains(coding.asciiLowercased) {
      let known = codings.joined(separator: ", ")
      var problem = Problem(
        .unsupportedMediaType, .unsupportedMediaType,
        "The body has the coding \(coding.prefix(40)); supported codings: \(known).")
      // RFC 9110 section 15.5.16.
      problem.fields.append("Accept-Encoding", known)
      throw problem
    }
    guard let type = fields.combined("Content-Type") else { return }
    let essence = type.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.asciiLowercased
    guard accepted.contains(essence) else {
      var problem = Problem(
        .unsupportedMediaType, .unsupportedMediaType,
        "The body is \(type.prefix(80)); send \(accepted[0]).")
      // RFC 5789 section 2.2.
      if case .mergePatch = self { problem.fields.append("Accept-Patch", accepted[0]) }
      throw problem
    }
  }
}
