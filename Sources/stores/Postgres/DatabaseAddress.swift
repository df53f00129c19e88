import CPostgres
import Glibc

/// Which database to connect to, as libpq reads it: a URI or `keyword=value` pairs, several hosts, a service of
/// a service file, and what the environment says of the rest
/// (https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING).
package struct DatabaseAddress: Hashable, Sendable {
  /// As it was written. It may hold a password.
  let text: String
  /// What it comes to, for logs and errors: without a password.
  package let name: String
  /// Whether it says how long a connection may take to come about.
  let hasConnectTimeout: Bool
  /// Whether it names several hosts.
  private let hasSeveralHosts: Bool
  /// Whether it may say which server is meant.
  private let saysServer: Bool

  /// Whether the text is meant for the address of a database, and not for a file: it has a scheme, of whatever kind,
  /// says USER:PASSWORD@, or is a list of pairs of which one has a word of libpq's or a password's. What is meant and
  /// cannot be read is refused, for it may
  /// hold a password, which would become a file's name.
  package static func isMeant(by text: String) -> Bool {
    let text = text.trimmingPrefix { $0.isWhitespace }
    // Other programs' addresses begin by two schemes: jdbc:postgresql://.
    if text.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.:\-]*:\/\//) != nil { return true }
    if text.prefixMatch(of: /(?i)postgres(ql)?:/) != nil { return true }
    if text.prefixMatch(of: /[^\/]+:.*@/) != nil { return true }
    // They are parted by semicolons elsewhere: Server=h;Pwd=….
    let words = text.matches(of: /(?:^|[\s;])(\w+)\s*=/)
    // A path may hold anything behind its first slash.
    guard let first = words.first, !text[..<first.range.lowerBound].contains("/") else {
      return false
    }
    return words.contains {
      let word = $0.output.1.lowercased()
      return keywords.contains(word) || ["pwd", "passwd", "pass"].contains(word)
    }
  }

  /// libpq's words for what an address says.
  private static let keywords: Set<String> = {
    // Of an empty text: the environment has no say in what words there are.
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

  /// The database that the text names.
  ///
  /// - Throws: `PostgresError.unreadableAddress`.
  package init(_ text: String) throws(PostgresError) {
    // libpq's texts end at a NUL: what stands behind it would go unread.
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
    // What a service file says is libpq's to read.
    saysServer = values["target_session_attrs"] != nil || values["service"] != nil
  }

  /// The kind of server that libpq must require (`target_session_attrs`); `nil` if the address and the environment
  /// decide.
  func sessionAttributes(_ server: Connection.Server) -> String? {
    switch server {
    case .writable: "read-write"
    case .addressed where hasSeveralHosts && !saysServer && getenv("PGTARGETSESSIONATTRS") == nil:
      "read-write"
    // What the environment says is meant for the primary.
    case .standby where !saysServer: "prefer-standby"
    case .addressed, .standby: nil
    }
  }

  private static func name(_ values: [String: String]) -> String {
    if let service = values["service"], values["dbname"] == nil { return "service=\(service)" }
    let user = values["user"].map { "\($0)@" } ?? ""
    let hosts = values["host"] ?? values["hostaddr"] ?? ""
    // Of several hosts of which none has a port, libpq makes a list of nothing.
    let ports = values["port"].flatMap { $0.allSatisfy { $0 == "," } ? nil : $0 }
    let port = ports.map { ":\($0)" } ?? ""
    return "postgres://\(user)\(hosts)\(port)/\(values["dbname"] ?? "")"
  }
}

extension DatabaseAddress: CustomStringConvertible {
  /// Its name, without a password.
  package var description: String { name }
}
