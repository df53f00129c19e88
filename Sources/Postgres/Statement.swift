/// A statement and its values. Its text is prepared once on each connection: it is one of the program's own,
/// of which there are few, and never made of what comes from outside.
public struct Statement: Sendable {
  /// The text, with `$1` and so on in place of the values, each with its type.
  public let sql: String
  /// The values.
  public let parameters: [Parameter]

  /// A statement with these values.
  public init(_ sql: String, _ parameters: [Parameter] = []) {
    self.sql = sql
    self.parameters = parameters
  }
}
