import Feed
import JSON

/// A decoder for a record of a feed file.
public struct RecordDecoder: Sendable {
  /// Creates a decoder.
  public init() {}

  /// Decodes a record.
  ///
  /// - Throws: `RecordError`, which names the field.
  public func decode(_ bytes: some Sequence<UInt8>) throws(RecordError) -> SeedRecord {
    try DecodedRecord(Self.document(bytes).root).record
  }

  /// Decodes the post of the item with this id: the record may omit the id, and must not have another one.
  /// `placements` is `nil` if the record does not name feeds.
  ///
  /// - Throws: `RecordError`, which names the field.
  public func decodeItem(
    _ bytes: some Sequence<UInt8>, id: String
  ) throws(RecordError) -> (post: Post, placements: [Placement]?) {
    let decoded = try DecodedRecord(
      Self.document(bytes).root, itemID: id, takesWords: true)
    guard case .post(let post, let placements) = decoded.record else {
      throw RecordError(field: "feed", problem: "is a feed, not an item")
    }
    guard post.id.isSame(as: id) else {
      throw RecordError(field: "id", problem: "is \"\(post.id)\", not the path's \"\(id)\"")
    }
    return (post, decoded.namesFeeds ? placements : nil)
  }

  /// Decodes the record of a new item that gets this id; the record must not have one.
  ///
  /// - Throws: `RecordError`, which names the field.
  public func decodeItem(
    _ bytes: some Sequence<UInt8>, named id: String
  ) throws(RecordError) -> (post: Post, placements: [Placement]?) {
    let document = try Self.document(bytes)
    if document.root.member("id") != nil {
      throw RecordError(
        field: "id", problem: "is chosen by the server; use PUT /v1/items/{id} to choose it")
    }
    return try decodeItem(bytes, id: id)
  }

  /// Decodes a change of an item's record: a merge patch (RFC 7396).
  ///
  /// - Throws: `RecordError`, which names the field.
  public func decodePatch(_ bytes: some Sequence<UInt8>) throws(RecordError) -> ItemPatch {
    let document = try Self.document(bytes)
    guard document.root.kind == .object else {
      throw RecordError(
        field: "", problem: "is not an object: a merge patch names the fields to change")
    }
    return ItemPatch(document)
  }

  /// Decodes counters: an object of integers with at least one member.
  ///
  /// - Throws: `RecordError`, which names the field.
  public func decodeCounters(_ bytes: some Sequence<UInt8>) throws(RecordError) -> [Counter] {
    let counters = try DecodedRecord.counters(Self.document(bytes).root)
    guard !counters.isEmpty else { throw RecordError(field: "", problem: "names no counter") }
    return counters
  }

  /// Returns the kind and name of a rejected record, if it has them: `post "p1"`.
  public func subject(of bytes: [UInt8]) -> String? {
    guard let record = try? Self.document(bytes).root else { return nil }
    let (kind, name) =
      record.member("feed").flatMap { $0.kind == .object ? ("feed", $0.member("name")) : nil }
      ?? ("post", record.member("id"))
    guard let text = name?.text, !text.isEmpty else { return nil }
    return "\(kind) \"\(text.excerpt(characters: JSONPath.shownCharacters))\""
  }

  fileprivate static func document(
    _ bytes: some Sequence<UInt8>
  ) throws(RecordError) -> JSONDocument {
    do throws(JSONError) {
      return try JSONDocument(Array(bytes), depthLimit: RecordLimits.depth)
    } catch {
      throw RecordError(error)
    }
  }
}

/// A change of some fields of an item's record: a merge patch (RFC 7396), in which `null` removes a field.
public struct ItemPatch: Sendable {
  private let document: JSONDocument

  fileprivate init(_ document: JSONDocument) { self.document = document }

  /// Whether the patch sets the item's feeds.
  public var namesFeeds: Bool { document.root.member("feeds") != nil }
  /// Whether the patch sets or removes counters.
  public var namesCounters: Bool { document.root.member("counters") != nil }

  /// Returns the post after the change. `placements` is `nil` if the patch does not name feeds.
  ///
  /// - Throws: `RecordError`, which names the field that makes the result invalid.
  public func applied(
    to post: Post, placements: [Placement]
  ) throws(RecordError) -> (post: Post, placements: [Placement]?) {
    let record = try RecordDecoder.document(SeedRecord.post(post, placements: placements).json)
    let (patched, feeds) = try RecordDecoder().decodeItem(
      record.root.patched(with: document.root), id: post.id)
    return (patched, namesFeeds ? feeds ?? [] : nil)
  }
}

extension RecordError {
  /// Creates the error for invalid JSON of a record.
  fileprivate init(_ error: JSONError) {
    switch error.problem {
    case .notUTF8: self.init(field: "", problem: "is not UTF-8")
    case .duplicateKey: self.init(field: error.path.description, problem: "occurs twice")
    case .tooDeep(let limit):
      self.init(field: "", problem: "is nested more than \(limit) levels deep")
    default: self.init(field: "", problem: "is not JSON: \(error)")
    }
  }
}
