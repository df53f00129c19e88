/// Which program this is.
public enum ProgramVersion {
  /// The release, as semver.org counts.
  public static let number = "0.1.0"

  /// The commit that it was built from; nil where the build did not know.
  public static var commit: String? { Commit.text.isEmpty ? nil : Commit.text }

  /// For example `0.1.0 (commit 532e6651f0c2)`.
  public static var text: String {
    "\(number) (commit \(commit.map { String($0.prefix(12)) } ?? "unknown"))"
  }
}
