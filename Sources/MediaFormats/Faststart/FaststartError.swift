/// Why a file's tables cannot be moved to its front. What is broken in the file itself is a `FormatError`.
public enum FaststartError: Error, Hashable, Sendable {
  /// The file is no MP4 or MOV file.
  case otherFormat(MediaType)
  /// The tables are in front already: there is nothing to be done.
  case tablesInFront
  /// The file comes in fragments, which have their tables in front.
  case fragmented
  /// The tables are compressed (QuickTime's `cmov`).
  case compressed
  /// The samples are encrypted; where their keys' data lie would have to be written anew, too.
  case encrypted
  /// Something besides the sample tables says where data lie in the file, and is not understood: the box at
  /// this offset.
  case otherOffsets(box: String, offset: Int64)
  /// A table says that a chunk of samples lies at an offset where the file has no media data.
  case chunkOutside(chunkOffset: Int64)
}

extension FaststartError: CustomStringConvertible {
  /// What is in the way, as a clause.
  public var description: String {
    switch self {
    case .otherFormat(let type): "the file is of type \(type.value), not an MP4 or MOV file"
    case .tablesInFront: "the tables are in front already"
    case .fragmented: "the file comes in fragments, which have their tables in front"
    case .compressed: "the tables are compressed, which is not supported"
    case .encrypted: "the samples are encrypted, which is not supported"
    case .otherOffsets(let box, let offset):
      "the box \(box) at byte \(offset) says where data lie, which is not supported"
    case .chunkOutside(let offset):
      "a chunk is said to lie at byte \(offset), where the file has no media data"
    }
  }
}
