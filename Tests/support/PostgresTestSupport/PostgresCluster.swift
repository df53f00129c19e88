import Foundation
import Synchronization
import TestSupport

/// A PostgreSQL server of the tests' own: on a socket in a folder of its own, without a port, and without waiting
/// for disks. It ends with the process of the tests, however that ends, and takes its folder along.
package final class PostgresCluster: Sendable {
  /// The one that the tests of this process share, where PostgreSQL is installed; each has a schema of its own in it. Processes
  /// share none: in one server a transaction that another process's test holds open keeps changes from being shown
  /// (`pg_snapshot_xmin`).
  package static let shared: PostgresCluster? = isPresent ? try! PostgresCluster() : nil

  /// Whether there is PostgreSQL: without it, what needs it is skipped. One that is there and does not start fails.
  package static var isPresent: Bool { programs != nil }

  /// Where the socket lies.
  package let folder: String
  private let shell: Process
  /// The shell ends the server when nobody holds the other end of this any longer.
  private let life: Pipe

  private struct NotInstalled: Error {}
  private struct NotStarted: Error { let log: String }
  private struct Refused: Error { let sql: String }

  private static let programs = (13...20).reversed().map { "/usr/lib/postgresql/\($0)/bin" }
    .first { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }

  /// Makes and starts a cluster.
  ///
  /// - Parameters:
  ///   - settings: of the server, `name=value`.
  ///   - primary: the one of which it is to be a standby; without one it is a primary itself.
  package init(
    settings: [String] = ["fsync=off", "synchronous_commit=on"],
    standbyOf primary: PostgresCluster? = nil
  ) throws {
    guard let programs = Self.programs else { throw NotInstalled() }
    // Short: a socket's path has a hundred bytes.
    folder = "/tmp/lookahead-pg-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    shell = Process()
    life = Pipe()
    shell.executableURL = URL(fileURLWithPath: "/bin/bash")
    // PostgreSQL refuses to run as root.
    let become = getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --init-groups" : ""
    let make =
      primary.map {
        "\(programs)/pg_basebackup -h \($0.folder) -U tests -D \"$0/data\" -R -c fast -N"
      } ?? "\(programs)/initdb -D \"$0/data\" -U tests -A trust -E UTF8 --no-locale -N"
    let options = settings.map { "-c \($0)" }.joined(separator: " ")
    shell.arguments = [
      "-c",
      """
      set -e
      mkdir -m 755 "$0"; cd "$0"
      if [ "$EUID" = 0 ]; then chown postgres "$0"; fi
      \(become) \(make) >"$0/log" 2>&1 || { rm -rf "$0"; exit 1; }
      start() {
        \(become) \(programs)/postgres -D "$0/data" -k "$0" -c listen_addresses= \
          -c max_connections=300 \(options) >>"$0/log" 2>&1 </dev/null &
        server=$!
        echo $server >"$0/server.pid"
      }
      set +e
      # Asked to end, it takes server and folder along, too.
      trap : TERM
      start
      while read -r word; do
        case $word in
          kill) kill -KILL $server; wait $server 2>/dev/null; sleep 0.3 ;;
          start) rm -f "$0/data/postmaster.pid"; start ;;
        esac
        echo done >"$0/$word.done"
      done
      kill -INT $server; wait $server 2>/dev/null
      cd /; rm -rf "$0"
      """, folder,
    ]
    shell.standardInput = life
    try shell.run()
    try waitUntilReady()
  }

  private func waitUntilReady() throws {
    // As often as it takes on a busy machine; each look takes a program's start.
    for _ in 0..<600 {
      let probe = Process()
      probe.executableURL = URL(fileURLWithPath: "\(Self.programs!)/pg_isready")
      probe.arguments = ["-q", "-h", folder, "-U", "tests", "-d", "postgres"]
      try probe.run()
      probe.waitUntilExit()
      if probe.terminationStatus == 0 { return }
      guard shell.isRunning else { break }
      usleep(200_000)
    }
    let log = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
    throw NotStarted(log: log)
  }

  /// The server dies without a word, as by a power failure.
  package func kill() throws { try tell("kill") }

  /// It is started again, and ready.
  package func start() throws {
    try tell("start")
    try waitUntilReady()
  }

  private func tell(_ word: String) throws {
    let done = "\(folder)/\(word).done"
    try? FileManager.default.removeItem(atPath: done)
    try life.fileHandleForWriting.write(contentsOf: Data("\(word)\n".utf8))
    eventually { FileManager.default.fileExists(atPath: done) }
  }

  /// What the server answers, as psql writes it.
  @discardableResult
  package func ask(_ sql: String) throws -> String {
    let (psql, answer) = (Process(), Pipe())
    psql.executableURL = URL(fileURLWithPath: "\(Self.programs!)/psql")
    psql.arguments = ["-XAtq", "-v", "ON_ERROR_STOP=1", "-c", sql, address]
    psql.standardOutput = answer
    try psql.run()
    let text = answer.fileHandleForReading.readDataToEndOfFile()
    psql.waitUntilExit()
    guard psql.terminationStatus == 0 else { throw Refused(sql: sql) }
    return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private static let schemas = Atomic<Int>(0)

  /// The address of the cluster's database, and of a schema in it that is nobody else's and has yet to be made.
  package func freshSchema() -> (address: String, name: String) {
    let number = Self.schemas.add(1, ordering: .relaxed).newValue
    let name = "test_\(number)"
    return (address(schema: name), name)
  }

  /// The address with this schema as the one in which tables are found and made.
  package func address(schema: String) -> String {
    "postgres:///postgres?host=\(folder)&user=tests&options=-csearch_path%3D\(schema)"
  }

  /// The address of the database alone.
  package var address: String { "postgres:///postgres?host=\(folder)&user=tests" }
}
