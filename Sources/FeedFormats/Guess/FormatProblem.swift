/// Why an input is not read at all: nothing of it was.
public struct FormatProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// What the input is, and what to do, as a sentence without its end.
  public let description: String

  init(_ description: String) { self.description = description }
}
