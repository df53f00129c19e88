import CivilTime
import Glibc
import ObjectStorage
import System

/// A place that holds a series of backups of one database: numbered, the newest kept.
package protocol BackupSeries: Sendable {
  /// Checks that backups can be written there.
  func requireUsable() throws
  /// Returns the backups of the series, the oldest first.
  func entries() throws -> [BackupFolder.Entry]
  /// Makes the next backup of the series, and deletes the oldest beyond `kept`.
  ///
  /// - Throws: the errors of `Backup.make`, and `BackupError.isBeingMade` if another program makes a
  ///   backup.
  func add(_ backup: Backup, secondsSince1970: Int, keeping kept: Int) throws -> Backup.Report
}

extension BackupFolder: BackupSeries {
  package func add(
    _ backup: Backup, secondsSince1970: Int, keeping kept: Int
  ) throws -> Backup.Report {
    try add(backup, secondsSince1970: secondsSince1970, keeping: kept, after: 0)
  }
}

/// A bucket of an object store that holds a series of backups of one database.
///
/// A backup is first made in a folder beside the database, checked as each one is, and then uploaded as a
/// whole. A backup that could not be uploaded stays in that folder until the next one is made.
package struct BackupBucket: BackupSeries {
  private static let spoolSuffix = "-backups"

  private let store: ObjectStore
  private let series: String
  private let spool: BackupFolder

  /// Creates the series of backups of a database below an address.
  package init(_ store: ObjectStore, database: String) {
    self.store = store
    series = BackupName.series(ofDatabase: database)
    spool = BackupFolder(path: database + Self.spoolSuffix, database: database)
  }

  /// See `BackupSeries`.
  ///
  /// - Throws: `ObjectStoreError`, `SystemError`.
  package func requireUsable() throws {
    try FileSystem.makeFolder(spool.path)
    try spool.requireUsable()
    _ = try store.list()
  }

  /// See `BackupSeries`. The times are those in the names.
  ///
  /// - Throws: `ObjectStoreError`.
  package func entries() throws -> [BackupFolder.Entry] {
    try objects().map { name, object in
      BackupFolder.Entry(
        name: name, path: "\(store.address.bucketAddress)\(object.key)", bytes: object.bytes,
        modifiedSecondsSince1970: name.secondsSince1970 ?? 0)
    }
  }

  private func objects() throws -> [(name: BackupName, object: ObjectStore.Object)] {
    let prefix = store.address.prefix
    return try store.list().compactMap { object in
      guard object.key.hasPrefix(prefix),
        let name = BackupName(String(object.key.dropFirst(prefix.count)), series: series)
      else { return nil }
      return (name, object)
    }.sorted { $0.0.number < $1.0.number }
  }

  /// See `BackupSeries`.
  ///
  /// - Throws: the errors of `BackupSeries`, and `ObjectStoreError`.
  package func add(
    _ backup: Backup, secondsSince1970: Int, keeping kept: Int
  ) throws -> Backup.Report {
    precondition(kept >= 1, "no backup would be kept")
    try FileSystem.makeFolder(spool.path)
    let last = try objects().last?.name.number ?? 0
    let report = try spool.add(
      backup, secondsSince1970: secondsSince1970, keeping: 1, after: last)
    let name = String(report.path.split(separator: "/").last ?? "")
    guard let file = OpenFile(try Descriptor(report.path)) else {
      throw BackupError.missing(path: report.path)
    }
    let key = store.address.prefix + name
    try store.put(file, as: key)
    let all = try objects()
    guard let put = all.first(where: { $0.object.key == key }) else {
      throw ObjectStoreError.noAnswer("\(key) was uploaded, but is not listed")
    }
    guard put.object.bytes == file.size else {
      throw ObjectStoreError.otherLength(key: key, expected: file.size, found: put.object.bytes)
    }
    FileSystem.remove(report.path)
    for (_, object) in all.dropLast(kept) { try store.delete(object.key) }
    // Some stores do not list unfinished uploads, or not for this key; their own rules apply.
    try? abortUnfinished(secondsSince1970: secondsSince1970)
    return Backup.Report(
      path: "\(store.address.bucketAddress)\(key)", bytes: report.bytes,
      databaseBytes: report.databaseBytes, posts: report.posts, notes: report.notes)
  }

  /// The age from which on an upload is unfinished: no backup takes that long to upload.
  private static let unfinishedSeconds = 86_400

  /// Aborts uploads of backups of the series that killed servers left.
  private func abortUnfinished(secondsSince1970: Int) throws(ObjectStoreError) {
    let prefix = store.address.prefix
    for upload in try store.unfinished(begunBefore: secondsSince1970 - Self.unfinishedSeconds)
    where upload.key.hasPrefix(prefix)
      && BackupName(String(upload.key.dropFirst(prefix.count)), series: series) != nil
    {
      try store.abort(upload)
    }
  }

  /// Returns the newest backup of the database's series, or of the only series that exists: a backup is
  /// often restored under another name.
  private static func newest(
    of all: [ObjectStore.Object], below address: ObjectAddress, ofDatabase database: String
  ) throws(BackupError) -> ObjectStore.Object? {
    let prefix = address.prefix
    let texts = all.filter { $0.key.hasPrefix(prefix) }.map { $0.key.dropFirst(prefix.count) }
    let known = Set(texts.compactMap { BackupName.series(ofName: String($0)) })
    let own = BackupName.series(ofDatabase: database)
    guard let series = known.contains(own) ? own : known.first else { return nil }
    guard known.count == 1 || series == own else {
      throw .notABackup(
        path: address.description,
        reason:
          "it has backups of several databases (\(known.sorted().joined(separator: ", "))): "
          + "name a backup"
      )
    }
    return all.compactMap { object in
      BackupName(String(object.key.dropFirst(prefix.count)), series: series).map { ($0, object) }
    }.max { $0.0.number < $1.0.number }?.1
  }

  /// Downloads a backup into a new file.
  ///
  /// - Parameters:
  ///   - key: the key; nil for the newest of the series.
  ///   - path: a path at which there is no file.
  /// - Throws: `BackupError.missing`, `ObjectStoreError`, `SystemError`.
  package static func fetch(
    _ key: String?, from store: ObjectStore, ofDatabase database: String, to path: String
  ) throws {
    let all = try store.list()
    let found: ObjectStore.Object?
    if let key {
      found = all.first { $0.key == key }
    } else {
      found = try newest(of: all, below: store.address, ofDatabase: database)
    }
    guard let found else {
      throw BackupError.missing(
        path: "\(store.address.bucketAddress)\(key ?? store.address.prefix)")
    }
    let file = try Descriptor(path, [.readingAndWriting, .creating, .new])
    do {
      try store.get(found, into: file)
    } catch {
      FileSystem.remove(path)
      throw error
    }
  }
}

extension BackupName {
  /// The time at which the backup began, according to its name.
  var secondsSince1970: Int? {
    let digits = time.utf8.filter { (0x30...0x39).contains($0) }.map { Int($0 - 0x30) }
    guard digits.count == 14 else { return nil }
    func number(_ range: Range<Int>) -> Int { digits[range].reduce(0) { $0 * 10 + $1 } }
    guard
      let days = CivilTime.daysSince1970(
        year: number(0..<4), month: number(4..<6), day: number(6..<8))
    else { return nil }
    return days * 86_400 + number(8..<10) * 3_600 + number(10..<12) * 60 + number(12..<14)
  }
}
