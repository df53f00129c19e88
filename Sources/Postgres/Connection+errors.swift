import CPostgres

/// What becomes of a connection on which something went wrong.
extension Connection {
  func lost() -> PostgresError {
    giveUp(.lost(reason: Self.line(PQerrorMessage(handle))))
  }

  func giveUp(_ error: PostgresError) -> PostgresError {
    isLost = true
    return error
  }

  /// A server that goes says so with an error; the connection is of no more use.
  func noted(_ error: PostgresError) -> PostgresError {
    guard PQstatus(handle) == CONNECTION_BAD || error.isEndOfSession else { return error }
    return giveUp(.lost(reason: error.description))
  }

  static func error(_ result: OpaquePointer) -> PostgresError {
    func field(_ code: Character) -> String {
      PQresultErrorField(result, Int32(code.asciiValue!)).map { String(cString: $0) } ?? ""
    }
    let sqlState = field("C")
    guard !sqlState.isEmpty else { return .lost(reason: line(PQresultErrorMessage(result))) }
    return .server(
      ServerMessage(
        sqlState: sqlState, text: field("M"), detail: field("D"), constraint: field("n")))
  }

  /// libpq's message in one line.
  static func line(_ message: UnsafePointer<CChar>?) -> String {
    let text = message.map { String(cString: $0) } ?? ""
    let lines = text.split(separator: "\n").map { $0.drop { $0 == "\t" || $0 == " " } }
    return lines.isEmpty ? "no reason was given" : lines.joined(separator: "; ")
  }
}

extension PostgresError {
  /// The server ends, is not there yet, or takes no writes any longer: another connection may find better.
  var isEndOfSession: Bool {
    switch self {
    case .server(let message):
      // 25006: what was the primary is none any longer.
      message.sqlStateClass == "08" || message.sqlState == "25006"
        || message.sqlStateClass == "57" && message.sqlState != "57014"
    case .lost: true
    case .unreadableAddress, .cannotConnect, .unexpected, .tooLarge: false
    }
  }
}
