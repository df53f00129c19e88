import Glibc

/// Operations on names of files.
public enum FileSystem {
  /// A permission for a file or folder (`access(2)`).
  public struct Permission: OptionSet, Sendable {
    /// The mode.
    public let rawValue: Int32

    /// This mode.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// `R_OK`
    public static let reading = Permission(rawValue: R_OK)
    /// `W_OK`
    public static let writing = Permission(rawValue: W_OK)
    /// `X_OK`: permission to reach a folder's files.
    public static let entering = Permission(rawValue: X_OK)
    /// `X_OK`: permission to run a file.
    public static let executing = Permission(rawValue: X_OK)
  }

  /// Checks that this user has a permission for the file at a path.
  ///
  /// - Throws: `SystemError` if not.
  public static func require(_ permission: Permission, _ path: String) throws(SystemError) {
    try retrying("access", "use \(path)") { access(path, permission.rawValue) }
  }

  /// Renames a file, replacing the file with the new name (`rename(2)`).
  public static func rename(_ path: String, to newPath: String) throws(SystemError) {
    try retrying("rename", "rename \(path) to \(newPath)") { Glibc.rename(path, newPath) }
  }

  /// Removes a file's name, if it exists (`unlink(2)`).
  public static func remove(_ path: String) { unlink(path) }

  /// Makes a folder in an existing folder, if it is absent.
  ///
  /// - Throws: `SystemError`.
  public static func makeFolder(_ path: String) throws(SystemError) {
    let parts = path.split(separator: "/")
    let parent = parts.dropLast().joined(separator: "/")
    let purpose = "make the folder \(path)"
    let folder = path.hasPrefix("/") ? "/" + parent : parent.isEmpty ? "." : parent
    _ = try OpenFolder(path: folder, purpose: purpose)
      .makeFolder(named: parts.last.map(String.init) ?? ".", purpose: purpose)
  }

  /// Removes a file's name, if it exists.
  ///
  /// - Throws: `SystemError` if the name remains.
  public static func requireRemoval(of path: String) throws(SystemError) {
    do throws(SystemError) {
      _ = try retrying("unlink", "remove \(path)") { unlink(path) }
    } catch {
      guard error.isAbsence else { throw error }
    }
  }

  /// Waits until the names in a folder are on the disk.
  public static func sync(folder: String) throws(SystemError) {
    try Descriptor(folder, .folder).sync()
  }

  /// The path without links (`realpath(3)`); nil if it does not exist.
  public static func resolvingLinks(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// The names in a folder, in no particular order, without `.` and `..`.
  public static func names(in folder: String) throws(SystemError) -> [String] {
    guard let stream = opendir(folder) else {
      throw SystemError(call: "opendir", purpose: "read the folder \(folder)")
    }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}

/// The user of the process.
public enum User {
  /// The effective user's number (`geteuid(2)`).
  public static var number: UInt32 { geteuid() }
  /// Whether the user is root.
  public static var isRoot: Bool { number == 0 }
}
