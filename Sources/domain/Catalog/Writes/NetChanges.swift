import Feed

/// Counts what a run changed on balance: a post that one line changes and a later line changes back is
/// unchanged, so that the same input twice changes nothing even where it contradicts itself.
public struct NetChanges: Sendable {
  /// What happened to one record's post or feed.
  public struct Change: Sendable {
    /// A digest of what was stored before; `nil` where there was none.
    public let before: Int?
    /// A digest of what is stored now.
    public let after: Int

    /// A change from the one to the other; none where they are the same.
    public init(before: Int?, after: Int) {
      self.before = before
      self.after = after
    }
  }

  /// Posts are followed up to this number, so that a run's memory is bounded; beyond it each change
  /// counts for itself.
  private static let limit = 500_000
  private var moved: [ByteText: (original: Int, changes: Int)] = [:]

  /// Of a run that has done nothing yet.
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
