import CEmbedded

/// The description of the API (OpenAPI 3.1), embedded in the program.
enum OpenAPI {
  static let document: [UInt8] = {
    guard let file = embedded_file("openapi.json")?.pointee else {
      preconditionFailure("openapi.json is not in CEmbedded.c")
    }
    return Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
  }()
}
