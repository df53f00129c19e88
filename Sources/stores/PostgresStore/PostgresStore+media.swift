import Catalog
import Feed
import RowStore

/// The facts about media files.
extension PostgresStore: MediaStore {
  /// See `MediaStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func media(at urls: [String]) throws -> [KnownMedia?] {
    try read { try MediaRows($0).media(at: urls) }
  }

  /// See `MediaStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func truth(ofContent sha256: [UInt8]) throws -> MediaTruth? {
    try read { connection in
      try MediaRows(connection).truth(ofVersion: MediaVersion.content(sha256: sha256).text)?.truth
    }
  }

  /// See `MediaStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func media(after url: String?, limit: Int) throws -> [KnownMedia] {
    try read { try MediaRows($0).media(after: url, limit: limit) }
  }

  /// See `MediaStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func namedMedia(after url: String?, limit: Int) throws -> [String] {
    try read { try MediaRows($0).namedMedia(after: url, limit: limit) }
  }

  /// See `MediaStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func posts(naming urls: [String], limit: Int) throws -> [String] {
    try read { try MediaRows($0).posts(naming: urls, limit: limit) }
  }

  /// See `MediaStore`.
  ///
  /// - Throws: `MediaStoreError`, `PostgresStoreError`.
  package func keep(_ media: [KnownMedia]) throws {
    guard !media.isEmpty else { return }
    let keyed = try media.map { (key: try $0.versionKey(), media: $0) }
    try write { table in
      var changed: [String] = []
      for (key, media) in keyed { changed += try table.keep(media, key) }
      return changed
    }
  }

  /// See `MediaStore`.
  ///
  /// - Throws: `PostgresStoreError`.
  package func forget(_ urls: [String]) throws {
    try write { table in try urls.filter { try table.forget($0) } }
  }

  /// - Parameter body: writes, and returns the URLs whose facts have changed.
  private func write(_ body: (MediaRows) throws -> [String]) throws {
    try withStoreErrors(name) {
      try writer.transaction { rows in
        let table = MediaRows(rows.connection)
        try table.tell(try body(table))
        rows.trimLog()
      }
    }
    followOwnWrite()
  }
}
