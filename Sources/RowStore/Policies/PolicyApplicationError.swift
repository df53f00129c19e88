/// Why a setting is not applied, or not taken back.
public enum PolicyApplicationError: Error, Hashable, Sendable {
  /// There is no feed of this name.
  case unknownFeed(String)
  /// There is no network of this name, but these.
  case unknownNetwork(String, known: [String])
  /// No setting was applied that has not been taken back.
  case nothingApplied
  /// The policy is no longer what was applied: somebody wrote it since.
  case changedSince
}

extension PolicyApplicationError: CustomStringConvertible {
  /// For example `there is no network "5g", but 3g, wifi`.
  public var description: String {
    switch self {
    case .unknownFeed(let name): "there is no feed \"\(name)\""
    case .unknownNetwork(let name, let known):
      "there is no network \"\(name)\", but \(known.joined(separator: ", "))"
    case .nothingApplied: "no setting was applied there that has not been taken back"
    case .changedSince: "the policy was written by somebody since: it is no longer what was applied"
    }
  }
}
