/// A folder that is open.
public struct OpenFolder: Sendable {
  private let folder: Descriptor

  /// The folder at a path, through links if there are any.
  public init(path: String, purpose: @autoclosure () -> String) throws(SystemError) {
    folder = try Descriptor(path, in: nil, .folder, purpose: purpose())
  }

  private init(_ folder: Descriptor) { self.folder = folder }

  /// The folder of this name in this one; `ENOTDIR` if it is a link or anything else.
  public func folder(
    named name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> OpenFolder {
    OpenFolder(try Descriptor(name, in: folder, [.folder, .notThroughLink], purpose: purpose()))
  }

  /// The regular file of this name in this folder; nil if it is of another kind, `ELOOP` if it is a
  /// link. Neither waits for the other end of a FIFO nor takes a terminal.
  public func file(
    named name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> OpenFile? {
    OpenFile(
      try Descriptor(name, in: folder, [.notThroughLink, .withoutWaiting], purpose: purpose()))
  }
}
