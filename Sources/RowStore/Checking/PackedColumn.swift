import Feed

/// A column with packed bytes, of which the database itself knows nothing.
package struct PackedColumn: Sendable {
  /// Selects of each row what it is called, and its bytes.
  package let sql: String
  private let look: @Sendable (UnsafeBufferPointer<UInt8>) throws(PackedError) -> String?

  /// What is known of media files.
  package static let all = [
    PackedColumn(sql: "SELECT version, truth FROM media_truth") { bytes throws(PackedError) in
      try PackedTruth.truth(in: bytes).problem.map { field, words in "\(field) \(words)" }
    },
    PackedColumn(sql: "SELECT url, variants FROM media_file WHERE variants IS NOT NULL") {
      bytes throws(PackedError) in
      MediaVariant.problem(try PackedTruth.variants(in: bytes)).map { "its variants \($0)" }
    },
  ]

  /// What is wrong with a row: its bytes cannot be read, or say what cannot be; nothing where all is well.
  package func finding(_ name: String, _ bytes: UnsafeBufferPointer<UInt8>?) -> CheckFinding? {
    let problem: String?
    do throws(PackedError) {
      problem = try look(bytes ?? UnsafeBufferPointer(start: nil, count: 0))
    } catch {
      problem = "\(error)"
    }
    return problem.map {
      CheckFinding(
        severity: .error, text: "what is known of media files can be read: \(name): \($0)")
    }
  }
}
