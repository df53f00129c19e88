import ArgumentParser
import SQLiteStore

struct VacuumCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vacuum",
    abstract: "Return the database's unused pages to the disk.",
    discussion: """
      A server can run meanwhile: it continues to read, and its writes wait; writes that wait \
      longer than its --busy-timeout-milliseconds are answered with 503. The command temporarily \
      needs free space of twice the size of the data.
      """)

  @OptionGroup var options: DatabaseOptions

  func run() throws {
    let path = try options.path(instead: "PostgreSQL's autovacuum does this, or VACUUM FULL")
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
        "too little free space next to \(path): \(ByteCount.text(error.room.neededBytes)) "
          + "needed, \(ByteCount.text(error.room.freeBytes)) free; nothing was changed")
      throw ExitCode.failure
    }
  }
}
