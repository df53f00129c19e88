/// The version of this program.
package enum ProgramVersion {
  /// The release, by semantic versioning (semver.org).
  package static let number = "0.1.0"

  /// The commit of the build; nil if the build did not know it.
  package static var commit: String? { Commit.text.isEmpty ? nil : Commit.text }

  /// The version as text, for example `0.1.0 (commit 532e6651f0c2)`.
  package static var text: String {
    "\(number) (commit \(commit.map { String($0.prefix(12)) } ?? "unknown"))"
  }
}
