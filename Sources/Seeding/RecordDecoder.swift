import Feed
import Foundation

/// Reads one record of a feed file from its JSON.
public struct RecordDecoder: Sendable {
  /// A decoder of records.
  public init() {}

  /// The record that the bytes hold.
  ///
  /// - Throws: `RecordError`, naming the field.
  public func decode(_ bytes: some Sequence<UInt8>) throws(RecordError) -> SeedRecord {
    try decode(DecodedRecord.self, bytes).record
  }

  /// The post that the bytes hold, for an item of this id: the record may leave the id out, and must
  /// not have another. `placements` is nil where the record does not name feeds.
  ///
  /// - Throws: `RecordError`, naming the field.
  public func decodeItem(
    _ bytes: some Sequence<UInt8>, id: String
  ) throws(RecordError) -> (post: Post, placements: [Placement]?) {
    let decoded = try decode(DecodedRecord.self, bytes, id: id)
    guard case .post(let post, let placements) = decoded.record else {
      throw RecordError(field: "feed", problem: "is a feed and not an item")
    }
    guard post.id.utf8.elementsEqual(id.utf8) else {
      throw RecordError(field: "id", problem: "is \"\(post.id)\", not the path's \"\(id)\"")
    }
    return (post, decoded.namesFeeds ? placements : nil)
  }

  /// The counters that the bytes hold: an object of whole numbers, one at least.
  ///
  /// - Throws: `RecordError`, naming the field.
  public func decodeCounters(_ bytes: some Sequence<UInt8>) throws(RecordError) -> [Counter] {
    let counters = try decode(DecodedCounters.self, bytes).counters
    guard !counters.isEmpty else { throw RecordError(field: "", problem: "names no counter") }
    return counters
  }

  private func decode<Value: Decodable>(
    _: Value.Type, _ bytes: some Sequence<UInt8>, id: String? = nil
  ) throws(RecordError) -> Value {
    let data = Data(bytes)
    let decoder = JSONDecoder()
    if let id { decoder.userInfo[.itemID] = id }
    do {
      return try decoder.decode(Value.self, from: data)
    } catch let error as RecordError {
      throw error
    } catch let error as DecodingError {
      throw Self.recordError(error, data)
    } catch {
      throw RecordError(field: "", problem: "\(error)")
    }
  }

  private static func recordError(_ error: DecodingError, _ data: Data) -> RecordError {
    switch error {
    case .typeMismatch(let type, let context):
      return RecordError(field: context.codingPath.field, problem: "is not \(name(of: type))")
    case .valueNotFound(let type, let context):
      return RecordError(
        field: context.codingPath.field,
        problem: "is null, not \(name(of: type)); leave out what is unknown")
    case .keyNotFound(let key, let context):
      return RecordError(field: (context.codingPath + [key]).field, problem: "is missing")
    case .dataCorrupted(let context):
      if !context.codingPath.isEmpty {
        return RecordError(field: context.codingPath.field, problem: context.debugDescription)
      }
      guard String(validating: data, as: UTF8.self) != nil else {
        return RecordError(field: "", problem: "is not UTF-8")
      }
      return RecordError(
        field: "", problem: "is not JSON" + (syntaxError(data).map { ": " + $0 } ?? ""))
    @unknown default:
      return RecordError(field: "", problem: "\(error)")
    }
  }

  /// What is wrong with the JSON, and where: the decoder does not say, its older sister does.
  private static func syntaxError(_ data: Data) -> String? {
    do {
      _ = try JSONSerialization.jsonObject(with: data)
      return nil
    } catch {
      let text = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
      return text.map { $0.prefix(1).lowercased() + $0.dropFirst() }
    }
  }

  private static func name(of type: Any.Type) -> String {
    switch type {
    case is String.Type: "a text"
    case is Int.Type: "a whole number"
    case is [String: Any].Type, is KeyedDecodingContainer<FieldName>.Type: "an object"
    case is [Any].Type: "a list"
    default: String(describing: type).hasPrefix("Array") ? "a list" : "an object"
    }
  }
}

extension CodingUserInfoKey {
  /// The id of a post whose record does not have it.
  static let itemID = CodingUserInfoKey(rawValue: "itemID")!
}

extension [any CodingKey] {
  /// `media[0].width`
  var field: String {
    reduce(into: "") { path, key in
      if let index = key.intValue {
        path += "[\(index)]"
      } else {
        path += (path.isEmpty ? "" : ".") + key.stringValue
      }
    }
  }
}

/// Any name: what a strict reader needs to see the fields that it does not know.
struct FieldName: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = String(intValue)
    self.intValue = intValue
  }
}
