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
    let data = Data(bytes)
    do {
      return try JSONDecoder().decode(DecodedRecord.self, from: data).record
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
