/// A point in a store's history: greater whenever anything that is read may have changed.
///
/// It counts within one process and means nothing to another, or after a restart.
public struct StoreVersion: Hashable, Comparable, Sendable {
  /// Rises, not always by one.
  public let number: UInt64

  /// The version of this number.
  public init(number: UInt64) {
    self.number = number
  }

  /// Before anything was read.
  public static let start = StoreVersion(number: 0)

  /// Whether the left one is older.
  public static func < (left: StoreVersion, right: StoreVersion) -> Bool {
    left.number < right.number
  }
}
