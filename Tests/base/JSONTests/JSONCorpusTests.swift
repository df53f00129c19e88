import Foundation
import JSON
import TestSupport
import Testing

/// JSONTestSuite, which lies beside the project where it does: https://github.com/nst/JSONTestSuite
struct JSONCorpusTests {
  private static let folder = Repository.url("../shared/data/json").standardized

  static let isPresent = FileManager.default.fileExists(atPath: folder.path)

  private static func files(_ name: String) throws -> [(name: String, bytes: [UInt8])] {
    let folder = folder.appendingPathComponent(name)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
      ($0, Array(try Data(contentsOf: folder.appendingPathComponent($0))))
    }
  }

  /// What the suite says must be read and is refused here, as documented: keys that are there twice.
  private static let stricter = [
    "y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json",
  ]

  @Test(.enabled(if: isPresent, "skipped: ../shared/data/json is not there"))
  func
    `the suite's texts are read or refused as it says, and what is free is refused where it is lossy`()
    throws
  {
    let files = try Self.files("test_parsing")
    #expect(files.count > 300)
    for (name, bytes) in files {
      let problem = JSONDocumentTests.error(bytes)?.problem
      switch name.prefix(2) {
      case "y_" where !Self.stricter.contains(name): #expect(problem == nil, "\(name)")
      case "y_": #expect(problem == .duplicateKey, "\(name)")
      case "n_": #expect(problem != nil, "\(name)")
      default:
        // Numbers too large for any type are still JSON; what cannot be UTF-8 is not.
        #expect(
          (problem == nil) == name.hasPrefix("i_number"), "\(name): \(String(describing: problem))")
      }
    }
  }

  private static let transformations: [(String, JSONError.Problem?, Int?)] = [
    ("number_-9223372036854775808.json", nil, .min),
    ("number_-9223372036854775809.json", nil, nil),
    ("number_1.0.json", nil, 1),
    ("number_1.000000000000000005.json", nil, nil),
    ("number_1000000000000000.json", nil, 1_000_000_000_000_000),
    ("number_10000000000000000999.json", nil, nil),
    ("number_1e-999.json", nil, nil),
    ("number_1e6.json", nil, 1_000_000),
    ("number_9223372036854775807.json", nil, .max),
    ("number_9223372036854775808.json", nil, nil),
    ("object_key_nfc_nfd.json", nil, nil),
    ("object_key_nfd_nfc.json", nil, nil),
    ("object_same_key_different_values.json", .duplicateKey, nil),
    ("object_same_key_same_value.json", .duplicateKey, nil),
    ("object_same_key_unclear_values.json", .duplicateKey, nil),
    ("string_1_escaped_invalid_codepoint.json", .loneSurrogate, nil),
    ("string_1_invalid_codepoint.json", .notUTF8, nil),
    ("string_2_escaped_invalid_codepoints.json", .loneSurrogate, nil),
    ("string_2_invalid_codepoints.json", .notUTF8, nil),
    ("string_3_escaped_invalid_codepoints.json", .loneSurrogate, nil),
    ("string_3_invalid_codepoints.json", .notUTF8, nil),
    ("string_with_escaped_NULL.json", nil, nil),
  ]

  @Test(.enabled(if: isPresent, "skipped: ../shared/data/json is not there"))
  func `texts that readers change are read exactly or refused`() throws {
    let files = Dictionary(uniqueKeysWithValues: try Self.files("test_transform"))
    #expect(Set(files.keys) == Set(Self.transformations.map(\.0)))
    for (name, problem, number) in Self.transformations {
      let bytes = try #require(files[name])
      #expect(JSONDocumentTests.error(bytes)?.problem == problem, "\(name)")
      guard problem == nil else { continue }
      let root = try JSONDocument(bytes).root
      if root.kind == .array {
        #expect(root.elements.map { $0 }.first?.wholeNumber == number, "\(name)")
      }
      if root.kind == .object {
        #expect(root.members.map { $0.name.utf8.count }.count == 2, "\(name)")
      }
    }
  }
}
