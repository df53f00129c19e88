import CPostgres

/// Which database to connect to, as libpq reads it: a URI or `keyword=value` pairs, several hosts, a service of
/// a service file, and what the environment says of the rest
/// (https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING).
public struct DatabaseAddress: Hashable, Sendable {
  /// As it was written. It may hold a password.
  let text: String
  /// What it comes to, for logs and errors: without a password.
  public let name: String
  /// Whether it says how long a connection may take to come about.
  let hasConnectTimeout: Bool
  /// Whether it names several hosts, and not which of them is meant.
  let leavesHostOpen: Bool

  /// Whether the text names a PostgreSQL database, and not a file: `postgres://…`, `postgresql://…`, or
  /// pairs that name a service, a host or a database.
  public static func isMeant(by text: String) -> Bool {
    ["postgres://", "postgresql://", "service=", "host=", "hostaddr=", "dbname="]
      .contains { text.hasPrefix($0) }
  }

  /// The database that the text names.
  ///
  /// - Throws: `PostgresError.unreadableAddress`.
  public init(_ text: String) throws(PostgresError) {
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
    leavesHostOpen = hosts.contains(",") && values["target_session_attrs"] == nil
  }

  private static func name(_ values: [String: String]) -> String {
    if let service = values["service"], values["dbname"] == nil { return "service=\(service)" }
    let user = values["user"].map { "\($0)@" } ?? ""
    let hosts = values["host"] ?? values["hostaddr"] ?? ""
    let port = values["port"].map { ":\($0)" } ?? ""
    return "postgres://\(user)\(hosts)\(port)/\(values["dbname"] ?? "")"
  }
}

extension DatabaseAddress: CustomStringConvertible {
  /// Its name, without a password.
  public var description: String { name }
}
