import Catalog
import Feed

/// A store that does something else beside.
struct OtherStore: MediaStore {
  let base: any MediaStore
  /// Called before a content is looked up.
  var beforeLookup: @Sendable () throws -> Void = {}
  /// Called before these are kept.
  var beforeKeep: @Sendable ([KnownMedia]) throws -> Void = { _ in }

  func media(at urls: [String]) throws -> [KnownMedia?] { try base.media(at: urls) }
  func truth(ofContent sha256: [UInt8]) throws -> MediaTruth? {
    try beforeLookup()
    return try base.truth(ofContent: sha256)
  }
  func media(after url: String?, limit: Int) throws -> [KnownMedia] {
    try base.media(after: url, limit: limit)
  }
  func namedMedia(after url: String?, limit: Int) throws -> [String] {
    try base.namedMedia(after: url, limit: limit)
  }
  func posts(naming urls: [String], limit: Int) throws -> [String] {
    try base.posts(naming: urls, limit: limit)
  }
  func keep(_ media: [KnownMedia]) throws {
    try beforeKeep(media)
    try base.keep(media)
  }
  func forget(_ urls: [String]) throws { try base.forget(urls) }
}

/// What such a store fails with.
struct StoreIsOut: Error {}
