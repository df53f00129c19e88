/// Which program this is.
package enum ProgramVersion {
  /// The release, as semver.org counts.
  package static let number = "0.1.0"

  /// The commit that it was built from; nil where the build did not know.
  package static var commit: String? { Commit.text.isEmpty ? nil : Commit.text }

  /// For example `0.1.0 (commit 532e6651f0c2)`.
  package static var text: String {
    "\(number) (commit \(commit.map { String($0.prefix(12)) } ?? "unknown"))"
  }
}
