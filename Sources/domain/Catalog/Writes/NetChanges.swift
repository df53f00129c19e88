import Feed

/// Counts the net changes of a run: a post that one line changes and a later line changes back is
/// unchanged, so that the same input twice changes nothing even if it contradicts itself.
public struct NetChanges: Sendable {
  /// A change of one record's post or feed.
  public struct Change: Sendable {
    /// A digest of what was stored before; `nil` if there was nothing.
    public let before: Int?
    /// A digest of what is stored now.
    public let after: Int

    /// Creates a change; equal digests mean no change.
    public init(before: Int?, after: Int) {
      self.before = before
      self.after = after
    }
  }

  /// The maximum number of posts that are tracked, which bounds a run's memory; beyond it each change
  /// counts separately.
  private static let limit = 500_000
  private var moved: [ByteText: (original: Int, changes: Int)] = [:]

  /// Creates the counts of a run that has done nothing yet.
  public init() {}

  /// Counts a change of the record's post or feed.
  public mutating func add(_ change: Change, id: String, to summary: inout ImportSummary) {
    guard let before = change.before else {
      summary.added += 1
      return
    }
    guard before != change.after else {
      summary.unchanged += 1
      return
    }
    summary.changed += 1
    guard moved[id] != nil || moved.count < Self.limit else { return }
    let original = moved[id]?.original ?? before
    let changes = (moved[id]?.changes ?? 0) + 1
    if original == change.after {
      summary.changed -= changes
      summary.unchanged += changes
      moved[id] = nil
    } else {
      moved[id] = (original, changes)
    }
  }
}
