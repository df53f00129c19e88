/// An error of a PostgreSQL server, or of the connection to it.
package enum PostgresError: Error, Hashable, Sendable {
  /// libpq cannot parse the text that names the database. The message omits the text: it may contain a
  /// password.
  case unreadableAddress
  /// A connection could not be made.
  case cannotConnect(reason: String)
  /// The connection ended, or the server did not answer in time. It is unknown whether a commit in progress
  /// was made.
  case lost(reason: String)
  /// The server's error.
  case server(ServerMessage)
  /// The server's answer is not one that the protocol allows here.
  case unexpected(String)
  /// A value is too large for the protocol.
  case tooLarge
}

/// A server's error
/// (https://www.postgresql.org/docs/15/protocol-error-fields.html).
package struct ServerMessage: Hashable, Sendable {
  /// The five characters of the SQLSTATE (https://www.postgresql.org/docs/15/errcodes-appendix.html).
  package let sqlState: String
  /// The error in one line.
  package let text: String
  /// The details, such as which key already exists; empty if there are none.
  package let detail: String
  /// The constraint that was violated; empty if there is none.
  package let constraint: String

  /// Creates a message with these fields.
  package init(sqlState: String, text: String, detail: String = "", constraint: String = "") {
    self.sqlState = sqlState
    self.text = text
    self.detail = detail
    self.constraint = constraint
  }

  /// The first two characters, which are the class of the error.
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
