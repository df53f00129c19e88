import Feed
import JSON

/// Reads one record of a feed file from its JSON.
public struct RecordDecoder: Sendable {
  /// A decoder of records.
  public init() {}

  /// The record that the bytes hold.
  ///
  /// - Throws: `RecordError`, naming the field.
  public func decode(_ bytes: some Sequence<UInt8>) throws(RecordError) -> SeedRecord {
    try DecodedRecord(Self.document(bytes).root).record
  }

  /// The post that the bytes hold, for an item of this id: the record may leave the id out, and must
  /// not have another. `placements` is nil where the record does not name feeds.
  ///
  /// - Throws: `RecordError`, naming the field.
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

  /// The record that the bytes hold, of a new item that is to have this id: the record has none.
  ///
  /// - Throws: `RecordError`, naming the field.
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

  /// A change of an item's record: a merge patch (RFC 7396).
  ///
  /// - Throws: `RecordError`, naming the field.
  public func decodePatch(_ bytes: some Sequence<UInt8>) throws(RecordError) -> ItemPatch {
    let document = try Self.document(bytes)
    guard document.root.kind == .object else {
      throw RecordError(
        field: "", problem: "is not an object: a merge patch names the fields to change")
    }
    return ItemPatch(document)
  }

  /// The counters that the bytes hold: an object of whole numbers, one at least.
  ///
  /// - Throws: `RecordError`, naming the field.
  public func decodeCounters(_ bytes: some Sequence<UInt8>) throws(RecordError) -> [Counter] {
    let counters = try DecodedRecord.counters(Self.document(bytes).root)
    guard !counters.isEmpty else { throw RecordError(field: "", problem: "names no counter") }
    return counters
  }

  /// What a record that is refused calls itself, as far as it can be told: `post "p1"`.
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

/// A change of some fields of an item's record: a merge patch (RFC 7396), whose `null` takes a field out.
public struct ItemPatch: Sendable {
  private let document: JSONDocument

  fileprivate init(_ document: JSONDocument) { self.document = document }

  /// Whether it says in which feeds the item is to be.
  public var namesFeeds: Bool { document.root.member("feeds") != nil }
  /// Whether it sets counters, or takes them out.
  public var namesCounters: Bool { document.root.member("counters") != nil }

  /// The post after the change. `placements` is nil where the patch does not name feeds.
  ///
  /// - Throws: `RecordError`, naming the field that makes it no record of this post.
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
  /// What is wrong with the JSON of a record.
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
