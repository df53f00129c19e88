import Catalog
import Feed

/// The rows of the facts about media files in one kind of database, within a transaction: files, each with
/// the row of the facts about its content, which several files may share.
package protocol KnownMediaRows {
  /// Returns the facts about the file at a URL; `nil` if the file is unknown.
  func media(at url: String) throws -> KnownMedia?
  /// Returns the row of a version, and its facts if they can be read; `nil` if there is no such row.
  func truth(ofVersion version: String) throws -> (id: Int64, truth: MediaTruth?)?
  /// Adds the row of a version.
  ///
  /// - Returns: the number of the row.
  func insertTruth(_ packed: [UInt8], version: String) throws -> Int64
  /// Writes the facts of a row.
  func updateTruth(_ id: Int64, to packed: [UInt8]) throws
  /// Returns the URLs of the files whose facts a row holds.
  func urls(ofTruth id: Int64) throws -> [String]
  /// Writes the row of a file, in place of an existing one.
  ///
  /// - Parameter variants: the packed variants; `nil` for none.
  func put(_ media: KnownMedia, truth: Int64, variants: [UInt8]?) throws
}

extension KnownMediaRows {
  /// Stores the facts about a file.
  ///
  /// - Parameter version: the version of its content, as `KnownMedia.versionKey` returns it.
  /// - Returns: the URLs whose facts changed.
  package func keep(_ media: KnownMedia, _ version: String) throws -> [String] {
    var changed: [String] = []
    let old = try self.media(at: media.url)
    let truth = media.truth.alone
    let id: Int64
    if let known = try self.truth(ofVersion: version) {
      id = known.id
      if known.truth != truth {
        try updateTruth(id, to: PackedTruth.bytes(of: truth))
        changed += try urls(ofTruth: id)
      }
    } else {
      id = try insertTruth(PackedTruth.bytes(of: truth), version: version)
    }
    if old?.truth != media.truth { changed.append(media.url) }
    if old != media {
      let variants = media.truth.variants
      try put(media, truth: id, variants: variants.isEmpty ? nil : PackedTruth.bytes(of: variants))
    }
    return changed
  }
}
