import Foundation

/// The inputs that the fuzzer kept (`Tests/Fuzz`), one file each.
package enum Corpus {
  /// One input.
  package struct Input: Sendable {
    /// The file's name, for a failure to name.
    package let name: String
    package let bytes: [UInt8]
  }

  /// The inputs of a target of `script/fuzz`, in the order of their names.
  package static func inputs(of target: String) throws -> [Input] {
    let folder = Repository.url("Tests/Fuzz/Corpus/\(target)")
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
      Input(name: name, bytes: Array(try Data(contentsOf: folder.appendingPathComponent(name))))
    }
  }
}
