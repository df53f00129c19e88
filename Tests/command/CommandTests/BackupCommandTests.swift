import Dispatch
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// Backups as an operator makes them: beside a server that is written to.
@Suite struct BackupCommandTests {
  let program = Program()
  private static let token = ["LOOKAHEAD_WRITE_TOKEN": "token-1"]
  private static let authorization = ["Authorization": "Bearer token-1"]

  /// Puts items until `isEnough` says so, each with its answer kept in `answered`.
  private func write(
    to port: UInt16, worker: Int, _ answered: borrowing Mutex<[String]>,
    until isEnough: borrowing Atomic<Bool>
  ) throws {
    let client = try TestClient(port: port)
    var number = 0
    while !isEnough.load(ordering: .relaxed) {
      let id = "w\(worker)-\(number)"
      number += 1
      let put = try client.request(
        "PUT", "/v1/items/\(id)", Self.authorization,
        body: #"{"type":"image","feeds":[{"name":"f","rank":1}]}"#)
      if put.status == 201 { answered.withLock { $0.append(id) } }
    }
  }

  @Test(arguments: [false, true])
  func `a backup beside writes has every write that was answered before`(_ isCompressed: Bool)
    throws
  {
    let server = try ServingProgram(program, environment: Self.token)
    let port = server.port
    let answered = Mutex<[String]>([])
    let isEnough = Atomic(false)
    let before = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { worker in
      if worker > 0 {
        #expect(throws: Never.self) {
          try write(to: port, worker: worker, answered, until: isEnough)
        }
        return
      }
      defer { isEnough.store(true, ordering: .relaxed) }
      eventually { answered.withLock({ $0.count }) >= 200 }
      let known = answered.withLock { $0 }
      before.withLock { $0 = known }
      #expect(throws: Never.self) {
        let arguments =
          ["backup", program.folder.file("backup")] + (isCompressed ? ["--compress"] : [])
        let backup = try program.run(arguments)
        #expect(backup.status == 0, "\(backup.errors)")
        #expect(backup.output.contains("checked"), "\(backup.output)")
      }
    }
    #expect(server.terminate() == 0)
    let known = before.withLock { $0 }
    #expect(known.count >= 200)

    let other = ["LOOKAHEAD_DATABASE": program.folder.file("other.sqlite")]
    let file = program.folder.file(isCompressed ? "backup.gz" : "backup")
    let restore = try program.run("restore", file, environment: other)
    #expect(restore.status == 0, "\(restore.errors)")
    #expect(try program.run("check", environment: other).status == 0)
    let export = try program.run("export", environment: other).output
    for id in known { #expect(export.contains("\"id\":\"\(id)\""), "\(id)") }
  }

  @Test func `what cannot be backed up or restored is said, with status 1 and nothing changed`()
    throws
  {
    let server = try ServingProgram(program)
    let folder = program.folder
    let backup = folder.file("backup")
    #expect(try program.run("backup", backup).status == 0)
    let cases: [(arguments: [String], status: Int32, says: String)] = [
      (["backup", backup], 1, "exists; use --overwrite"),
      (["backup", folder.file("none/backup")], 1, "No such file or directory"),
      (["backup", "--overwrite", program.database], 1, "is the database itself"),
      (["backup", "--overwrite", folder.path], 1, "Is a directory"),
      (["backup", backup + ".gz"], 64, "use --compress"),
      (["backup", ""], 64, "the path is empty"),
      (["backup"], 64, "file"),
      (["backup", folder.file("b"), "--database", folder.file("none")], 1, "there is no database"),
      (["restore", backup], 1, "exists; use --overwrite"),
      (["restore", "--overwrite", backup], 1, "is in use: stop the server"),
      (["restore", folder.file("none"), "--database", folder.file("x")], 1, "there is no backup"),
      (["restore", folder.path, "--database", folder.file("x")], 1, "not a regular file"),
    ]
    for (arguments, status, says) in cases {
      let outcome = try program.run(arguments)
      #expect(outcome.status == status, "\(arguments)")
      #expect(outcome.errors.contains(says), "\(arguments): \(outcome.errors)")
    }
    #expect(server.terminate() == 0)
    let restore = try program.run("restore", "--overwrite", backup)
    #expect(restore.status == 0, "\(restore.errors)")
    #expect(try program.run("check").status == 0)
  }

  /// The names of finished backups in the folder.
  private func backups(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasSuffix(".sqlite.gz") }.sorted()
  }

  @Test func `a server makes backups by itself, keeps the newest, and says so`() throws {
    let folder = program.folder.file("backups")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try program.folder.write(
      "half", to: "backups/feed-000001-20260101T000000Z.sqlite.gz.partial")
    let arguments = [
      "--backup-folder", folder, "--backup-interval-seconds", "1", "--backups-kept", "2",
    ]
    let server = try ServingProgram(program, arguments)
    let client = try TestClient(port: server.port)
    let made = "lookahead_backups_total{outcome=\"made\"}"
    try eventually { try client.figure(made) >= 3 }
    #expect(try client.figure(made) >= 3)
    #expect(try client.figure("lookahead_backups_total{outcome=\"failed\"}") == 0)
    #expect(try client.figure("lookahead_backup_timestamp_seconds") > 1_700_000_000)
    #expect(try client.figure("lookahead_backup_bytes") > 100)
    #expect(server.terminate() == 0)

    let names = try backups(in: folder)
    #expect(names.count == 2)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == names)
    let other = ["LOOKAHEAD_DATABASE": program.folder.file("other.sqlite")]
    let newest = folder + "/" + (names.last ?? "")
    #expect(try program.run("restore", newest, environment: other).status == 0)
  }

  @Test func `a backup folder that is gone is counted, and nobody is served the worse`() throws {
    let folder = program.folder.file("backups")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let server = try ServingProgram(
      program, ["--backup-folder", folder, "--backup-interval-seconds", "1"])
    let client = try TestClient(port: server.port)
    try FileManager.default.moveItem(atPath: folder, toPath: folder + "-away")
    let failed = "lookahead_backups_total{outcome=\"failed\"}"
    try eventually { try client.figure(failed) >= 1 }
    #expect(try client.figure(failed) >= 1)
    #expect(try client.get("/readyz").status == 200)
    #expect(server.terminate() == 0)
  }

  @Test func `a command runs behind each backup, and its failures are counted`() throws {
    let folder = program.folder.file("backups")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let (copy, full) = (program.folder.file("copy.gz"), program.folder.file("full"))
    let command = try program.folder.write(
      """
      #!/bin/sh
      test -z "$LOOKAHEAD_DATABASE" || exit 4
      cp "$1" '\(copy).new' && mv '\(copy).new' '\(copy)'
      if [ -e '\(full)' ]; then echo "no room" >&2; exit 3; fi

      """, to: "keep")
    let arguments = ["--backup-folder", folder, "--backup-interval-seconds", "1"]
    for (options, status, says) in [
      (arguments + ["--backup-command", command], 1, "Permission denied"),
      (arguments + ["--backup-command", "keep"], 64, "not the absolute path"),
      (["--backup-command", command], 64, "--backup-folder"),
    ] {
      let outcome = try program.run(["serve", "--port", "0"] + options)
      #expect(outcome.status == status && outcome.errors.contains(says), "\(outcome.errors)")
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: command)
    let server = try ServingProgram(program, arguments + ["--backup-command", command])
    let client = try TestClient(port: server.port)
    try eventually {
      try client.figure("lookahead_backup_commands_total{outcome=\"succeeded\"}") >= 1
    }
    #expect(try client.figure("lookahead_backup_commands_total{outcome=\"failed\"}") == 0)
    _ = try program.folder.write("", to: "full")
    try eventually {
      try client.figure("lookahead_backup_commands_total{outcome=\"failed\"}") >= 1
    }
    #expect(try client.get("/readyz").status == 200)
    #expect(server.terminate() == 0)
    let other = ["LOOKAHEAD_DATABASE": program.folder.file("other.sqlite")]
    #expect(try program.run("restore", copy, environment: other).status == 0)
  }

  @Test func `a backup folder that cannot be used is refused before anything is served`() throws {
    let file = try program.folder.write("", to: "file")
    for (folder, says) in [
      (program.folder.file("none"), "No such file or directory"), (file, "Not a directory"),
    ] {
      let outcome = try program.run("serve", "--port", "0", "--backup-folder", folder)
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains(says), "\(outcome.errors)")
    }
  }

  @Test func `looking at a backup leaves it as it is`() throws {
    #expect(try program.run("seed", "--generate", "20").status == 0)
    let backup = program.folder.file("today.sqlite")
    #expect(try program.run("backup", backup).status == 0)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: backup))
    let checked = try program.run("check", "--database", backup)
    #expect(checked.status == 0 && checked.output.contains("20 posts"), "\(checked.output)")
    for command in [["export"], ["migrate", "status"], ["migrate", "verify"]] {
      let refused = try program.run(command + ["--database", backup])
      #expect(refused.status == 1 && refused.errors.contains("is a backup"), "\(refused.errors)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == bytes)
    var changed = bytes
    changed[changed.count / 2] ^= 4
    try changed.write(to: URL(fileURLWithPath: backup))
    let damaged = try program.run("check", "--database", backup)
    #expect(damaged.status == 1 && damaged.errors.contains("checksum"), "\(damaged.errors)")
  }
}

extension TestClient {
  /// What the server's figures say under this name; -1 where they do not have it.
  fileprivate func figure(_ name: String) throws -> Int {
    let line = try get("/metrics").text.split(separator: "\n").first { $0.hasPrefix(name) }
    return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) } ?? -1
  }
}
