import System

/// A source of records.
package struct SeedInput: Sendable {
  /// The name in messages: the path, or `-` for standard input.
  package let name: String
  private let source: Source

  private enum Source: Sendable {
    case file(Descriptor)
    case closure(@Sendable () throws -> [UInt8]?)
  }

  /// The number of bytes read at a time.
  static let chunkBytes = 1 << 20

  /// Opens the input at the path; `-` is standard input.
  ///
  /// - Throws: `SeedInputError` if the input cannot be opened.
  package init(path: String) throws(SeedInputError) {
    name = path
    if path == "-" {
      source = .file(.standardInput)
      return
    }
    do throws(SystemError) {
      source = .file(try Descriptor(path))
    } catch {
      throw SeedInputError(name: path, reason: error.reason)
    }
  }

  /// Creates an input with this name from a closure that returns its bytes, and `nil` at the end.
  package init(name: String, read: @escaping @Sendable () throws -> [UInt8]?) {
    self.name = name
    source = .closure(read)
  }

  /// The paths of a folder's feed files, `.ndjson` and `.json`, in the order of their names.
  ///
  /// - Throws: `SeedInputError` if there is no such folder, or it contains no such file.
  package static func paths(in folder: String) throws(SeedInputError) -> [String] {
    guard let names = try? FileSystem.names(in: folder) else {
      throw SeedInputError(name: folder, reason: "there is no such folder")
    }
    let files = names.filter { $0.hasSuffix(".ndjson") || $0.hasSuffix(".json") }
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    guard !files.isEmpty else {
      throw SeedInputError(name: folder, reason: "the folder has no .ndjson or .json file")
    }
    return files.map { folder + "/" + $0 }
  }

  /// Reads the next bytes; returns `nil` at the end.
  ///
  /// - Parameter count: the maximum number of bytes from a file; another source returns what it has.
  /// - Throws: `SeedInputError` for a file, and for another source its own errors.
  func read(atMost count: Int = chunkBytes) throws -> [UInt8]? {
    switch source {
    case .file(let file): try read(file, count)
    case .closure(let read): try read()
    }
  }

  private func read(_ file: Descriptor, _ count: Int) throws(SeedInputError) -> [UInt8]? {
    do throws(SystemError) {
      let bytes = try file.readNext(atMost: count)
      return bytes.isEmpty ? nil : bytes
    } catch {
      throw SeedInputError(name: name, reason: error.reason)
    }
  }
}

/// An input that cannot be read.
package struct SeedInputError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path of the input or folder.
  package let name: String
  /// The reason, as the system reports it.
  package let reason: String

  /// `path: why`
  package var description: String { "\(name): \(reason)" }
}
