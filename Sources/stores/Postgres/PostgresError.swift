/// What went wrong with a PostgreSQL server, or on the way to it.
package enum PostgresError: Error, Hashable, Sendable {
  /// libpq does not understand the text that names the database. The message leaves the text out: it may hold a
  /// password.
  case unreadableAddress
  /// No connection came about.
  case cannotConnect(reason: String)
  /// The connection ended, or gave no answer in time. Whether a commit that was under way was made is not
  /// known.
  case lost(reason: String)
  /// What the server said instead of doing it.
  case server(ServerMessage)
  /// The server answered something that the protocol has no place for here.
  case unexpected(String)
  /// A value is larger than the protocol can tell.
  case tooLarge
}

/// A server's error
/// (https://www.postgresql.org/docs/15/protocol-error-fields.html).
package struct ServerMessage: Hashable, Sendable {
  /// Five letters (https://www.postgresql.org/docs/15/errcodes-appendix.html).
  package let sqlState: String
  /// What is wrong, in a line.
  package let text: String
  /// More of it, such as which key is there already; empty where nothing is said.
  package let detail: String
  /// The constraint that was violated; empty if there is none.
  package let constraint: String

  /// A message with these fields.
  package init(sqlState: String, text: String, detail: String = "", constraint: String = "") {
    self.sqlState = sqlState
    self.text = text
    self.detail = detail
    self.constraint = constraint
  }

  /// The first two letters, which say what kind it is.
  package var sqlStateClass: Substring { sqlState.prefix(2) }
}

extension PostgresError: CustomStringConvertible {
  /// One line for a person. It never holds a password.
  package var description: String {
    switch self {
    case .unreadableAddress:
      "libpq cannot parse the address of the database: expected postgres://USER@HOST:PORT/NAME, "
        + "or service=NAME; write ./NAME for a file of that name"
    case .cannotConnect(let reason): "cannot connect: \(reason)"
    case .lost(let reason): "the connection was lost: \(reason)"
    case .server(let message):
      "\(message.text)\(message.detail.isEmpty ? "" : ": \(message.detail)") (\(message.sqlState))"
    case .unexpected(let text): "unexpected answer: \(text)"
    case .tooLarge: "a value is too large for the protocol"
    }
  }
}
