import MediaFormats
import Testing

/// A file's first bytes, its name, and the type that it is.
struct MediaSample: Sendable, CustomTestStringConvertible {
  let type: String
  let name: String
  let head: [UInt8]

  init(_ type: String, _ name: String, _ head: [UInt8]) {
    self.type = type
    self.name = name
    self.head = head
  }

  var testDescription: String { "\(name) \(type) \(head.prefix(12))" }

  var found: MediaType { MediaType(head: head, name: name) }
}
