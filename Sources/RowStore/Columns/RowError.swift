/// A row holds what no program of ours wrote.
package struct RowError: Error, CustomStringConvertible {
  /// Which row, and what is wrong with it.
  package let description: String

  package init(_ description: String) { self.description = description }
}
