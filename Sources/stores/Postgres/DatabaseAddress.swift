import CPostgres
import Glibc

/// The address of a database, as libpq reads it: a URI or `keyword=value` pairs, several hosts, a service
/// of a service file; the environment adds the rest
/// (https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING).
package struct DatabaseAddress: Hashable, Sendable {
  /// The text as it was written. It may contain a password.
  let text: String
  /// The name for logs and errors, without a password.
  package let name: String
  /// Whether it sets a time limit for connecting.
  let hasConnectTimeout: Bool
  /// Whether it names several hosts.
  private let hasSeveralHosts: Bool
  /// Whether it may say which server is meant.
  private let saysServer: Bool

  /// Whether the text is meant as the address of a database, not as a file: it has a scheme of any kind,
  /// contains USER:PASSWORD@, or is a list of pairs with a keyword of libpq or a name for a password. A
  /// text that is meant as an address but cannot be read is refused: it may contain a password, which would
  /// become a file's name.
  package static func isMeant(by text: String) -> Bool {
    let text = text.trimmingPrefix { $0.isWhitespace }
    // Some addresses of other programs begin with two schemes: jdbc:postgresql://.
    if text.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.:\-]*:\/\//) != nil { return true }
    if text.prefixMatch(of: /(?i)postgres(ql)?:/) != nil { return true }
    if text.prefixMatch(of: /[^\/]+:.*@/) != nil { return true }
    // Other programs separate pairs by semicolons: Server=h;Pwd=….
    let words = text.matches(of: /(?:^|[\s;])(\w+)\s*=/)
    // A path may contain anything after its first slash.
    guard let first = words.first, !text[..<first.range.lowerBound].contains("/") else {
      return false
    }
    return words.contains {
      let word = $0.output.1.lowercased()
      return keywords.contains(word) || ["pwd", "passwd", "pass"].contains(word)
    }
  }

  /// The keywords of libpq.
  private static let keywords: Set<String> = {
    // Of an empty text: the keywords do not depend on the environment.
    guard let options = PQconninfoParse("", nil) else { return [] }
    defer { PQconninfoFree(options) }
    var keywords: Set<String> = []
    var option = options
    while let keyword = option.pointee.keyword {
      keywords.insert(String(cString: keyword))
      option += 1
    }
    return keywords
  }()

  /// Reads the address of a database.
  ///
  /// - Throws: `PostgresError.unreadableAddress`.
  package init(_ text: String) throws(PostgresError) {
    // libpq's texts end at a NUL: it would not read what follows.
    guard Self.isMeant(by: text), !text.utf8.contains(0) else { throw .unreadableAddress }
    var problem: UnsafeMutablePointer<CChar>?
    guard let options = PQconninfoParse(text, &problem) else {
      PQfreemem(problem)
      throw .unreadableAddress
    }
    defer { PQconninfoFree(options) }
    var values: [String: String] = [:]
    var option = options
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val {
        values[String(cString: keyword)] = String(cString: value)
      }
      option += 1
    }
    self.text = text
    name = Self.name(values)
    hasConnectTimeout = values["connect_timeout"] != nil
    let hosts = values["host"] ?? values["hostaddr"] ?? ""
    hasSeveralHosts = hosts.contains(",")
    // Only libpq reads service files.
    saysServer = values["target_session_attrs"] != nil || values["service"] != nil
  }

  /// Returns the kind of server that libpq must require (`target_session_attrs`); `nil` if the address and the
  /// environment decide.
  func sessionAttributes(_ server: Connection.Server) -> String? {
    switch server {
    case .writable: "read-write"
    case .addressed where hasSeveralHosts && !saysServer && getenv("PGTARGETSESSIONATTRS") == nil:
      "read-write"
    // The environment's setting is meant for the primary.
    case .standby where !saysServer: "prefer-standby"
    case .addressed, .standby: nil
    }
  }

  private static func name(_ values: [String: String]) -> String {
    if let service = values["service"], values["dbname"] == nil { return "service=\(service)" }
    let user = values["user"].map { "\($0)@" } ?? ""
    let hosts = values["host"] ?? values["hostaddr"] ?? ""
    // For several hosts without a port, libpq returns a list of empty ports.
    let ports = values["port"].flatMap { $0.allSatisfy { $0 == "," } ? nil : $0 }
    let port = ports.map { ":\($0)" } ?? ""
    return "postgres://\(user)\(hosts)\(port)/\(values["dbname"] ?? "")"
  }
}

extension DatabaseAddress: CustomStringConvertible {
  /// The name, without a password.
  package var description: String { name }
}
