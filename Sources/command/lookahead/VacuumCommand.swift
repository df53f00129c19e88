import ArgumentParser
import SQLiteStore

struct VacuumCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vacuum",
    abstract: "Give the database's unused pages back to the disk.",
    discussion: """
      A server may run: it goes on reading, and its writes wait; those that wait for longer than its \
      --busy-timeout-milliseconds are answered with 503. For a while it needs twice what the database \
      holds, beside it.
      """)

  @OptionGroup var options: DatabaseOptions

  func run() throws {
    let path = try options.path(instead: "PostgreSQL's autovacuum does this, and VACUUM FULL")
    let vacuum = Vacuum(path: path, options: options.file)
    let meter = ProgressMeter()
    do {
      let room = try vacuum.room()
      print(
        "\(path): \(ByteCount.text(room.fileBytes)), of which "
          + "\(ByteCount.text(room.fileBytes - room.usedBytes)) unused; "
          + "needs \(ByteCount.text(room.neededBytes)), \(ByteCount.text(room.freeBytes)) are free")
      let bytes = try vacuum.run()
      print("\(ByteCount.text(bytes)) now, in \(meter.secondsText) s")
    } catch let error as Vacuum.NoRoom {
      printError(
        "too little room beside \(path): \(ByteCount.text(error.room.neededBytes)) are "
          + "needed, \(ByteCount.text(error.room.freeBytes)) are free; nothing was changed")
      throw ExitCode.failure
    }
  }
}
