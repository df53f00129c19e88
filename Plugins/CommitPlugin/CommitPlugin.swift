import Foundation
import PackagePlugin

/// Writes the commit that is checked out into a source file of the module `Version`.
///
/// The command runs again when the clone's HEAD moves, which HEAD's log shows, so that a build never names
/// another commit than its own. If there is no clone (a container, an archive), or if another commit is to be
/// named, the variable `LOOKAHEAD_COMMIT` gives it; without both the commit is empty.
@main
struct CommitPlugin: BuildToolPlugin {
  private static let script = """
    commit=${LOOKAHEAD_COMMIT:-}
    if [ -z "$commit" ] && [ -e "$1/.git" ]; then
      commit=$(git -C "$1" rev-parse HEAD 2>/dev/null)
    fi
    case $commit in *[!0-9A-Za-z._-]*) echo "LOOKAHEAD_COMMIT: not a commit" >&2; exit 1 ;; esac
    printf 'enum Commit {\\n  static let text = "%s"\\n}\\n' "$commit" >"$2"
    """

  func createBuildCommands(context: PluginContext, target: Target) -> [Command] {
    let folder = context.package.directoryURL
    let output = context.pluginWorkDirectoryURL.appending(path: "Commit.swift")
    let passedOn = ["LOOKAHEAD_COMMIT", "PATH", "HOME"]
    return [
      .buildCommand(
        displayName: "Naming the commit", executable: URL(filePath: "/bin/sh"),
        arguments: ["-c", Self.script, "sh", folder.path, output.path],
        environment: ProcessInfo.processInfo.environment.filter { passedOn.contains($0.key) },
        inputFiles: [headLog(of: folder)].compactMap(\.self), outputFiles: [output])
    ]
  }

  /// The log of HEAD's moves. In a linked work tree, the file `.git` gives its folder
  /// (gitrepository-layout(5)).
  private func headLog(of folder: URL) -> URL? {
    let git = folder.appending(path: ".git")
    var repository = git
    if let text = try? String(contentsOf: git, encoding: .utf8), text.hasPrefix("gitdir: ") {
      let path = text.dropFirst("gitdir: ".count).trimmingCharacters(in: .newlines)
      repository = URL(filePath: path, relativeTo: folder)
    }
    let log = repository.appending(path: "logs/HEAD")
    return FileManager.default.fileExists(atPath: log.path) ? log.absoluteURL : nil
  }
}
