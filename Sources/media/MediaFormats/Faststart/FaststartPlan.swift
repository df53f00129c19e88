/// A plan for rewriting an MP4 or MOV file with its tables in front of the media data. It re-encodes
/// nothing and changes no sample.
///
/// The new file is `head`, followed by `ranges` of the old file in that order.
package struct FaststartPlan: Sendable, Hashable {
  /// The file's type box, if it has one, and its tables with the offsets of the new file.
  package let head: [UInt8]
  /// The ranges of the old file that follow: all that the head does not replace, in the old order.
  package let ranges: [Range<Int64>]
  /// The size of the new file.
  package let bytes: Int64

  /// Reads the file's tables and little else.
  ///
  /// - Throws: `FaststartError` if the tables cannot be moved or already are in front, `FormatError` if the
  ///   file is broken, and whatever the source throws.
  package init(for source: some ByteSource, limits: MediaLimits = MediaLimits()) throws {
    let reader = ByteReader(source, limits)
    guard reader.size > 0 else { throw FormatError(.empty, at: 0, in: "") }
    let first = Array(try reader.available(at: 0, upTo: MediaType.headBytes, in: "head"))
    let type = MediaType(head: first, name: "")
    let types = ["video/mp4", "audio/mp4", "video/quicktime", "video/3gpp", "video/3gpp2"]
    guard types.contains(type.value) else { throw FaststartError.otherFormat(type) }

    let boxes = try Self.boxes(reader)
    guard let movie = boxes.first(where: { $0.name == "moov" }) else {
      throw FormatError(.malformed("it has no moov"), at: 0, in: "file")
    }
    let rest = boxes.filter { $0.offset != movie.offset && $0.name != "ftyp" }
    try limits.check(movie.contentBytes, .tableBytes, at: movie.offset, in: "moov")
    let content = try reader.fields(
      at: movie.contentOffset, count: Int(movie.contentBytes), in: "moov")
    try Self.check(rest, content)

    var tables = MovieTables(content)
    let chunks = try tables.chunkOffsets()
    if movie.offset < chunks.min() ?? .max { throw FaststartError.tablesInFront }
    var head: [UInt8] = []
    for box in boxes where box.name == "ftyp" {
      try limits.check(box.end - box.offset, .tableBytes, at: box.offset, in: "ftyp")
      head += try reader.bytes(at: box.offset, count: Int(box.end - box.offset), in: "ftyp")
    }
    let ranges = Self.merged(rest.map(\.range))
    self.head = head + (try tables.moved(behind: head.count, ranges))
    self.ranges = ranges
    bytes = ranges.reduce(Int64(self.head.count)) { $0 + Int64($1.count) }
  }

  /// Reads the headers of the top-level boxes, all of which must be complete.
  private static func boxes(_ reader: ByteReader) throws -> [Box] {
    var boxes: [Box] = []
    var offset: Int64 = 0
    while offset < reader.size {
      try reader.limits.check(
        Int64(boxes.count + 1), .items, at: offset, in: "file")
      let box = try Box(reader, at: offset)
      guard box.end <= reader.size else {
        throw FormatError(
          .cutShort(neededBytes: box.end), at: box.offset, in: box.name.description)
      }
      boxes.append(box)
      offset = box.end
    }
    return boxes
  }

  /// Throws if the file has offsets outside the sample tables.
  private static func check(_ boxes: [Box], _ movie: FieldReader) throws {
    if boxes.contains(where: { $0.name == "moof" }) { throw FaststartError.fragmented }
    for box in boxes where ["meta", "sidx", "mfra", "moov"].contains(box.name) {
      throw FaststartError.otherOffsets(box: box.name.description, offset: box.offset)
    }
    let content = BoxContent(movie)
    if try content.first("cmov") != nil { throw FaststartError.compressed }
    if try content.first("mvex") != nil { throw FaststartError.fragmented }
    if let meta = try content.first("meta") { try check(meta: meta) }
  }

  /// Throws if a `meta` box in the movie locates items, which may be anywhere in the file. QuickTime's
  /// `meta` box has no version.
  private static func check(meta: FieldReader) throws {
    var fields = meta
    try? fields.skip(4)
    for content in [BoxContent(fields), BoxContent(meta)] {
      if let locations = try? content.first("iloc") {
        throw FaststartError.otherOffsets(box: "moov/meta/iloc", offset: locations.offset)
      }
    }
  }

  private static func merged(_ ranges: [Range<Int64>]) -> [Range<Int64>] {
    ranges.reduce(into: []) { merged, range in
      if let last = merged.last, last.upperBound == range.lowerBound {
        merged[merged.count - 1] = last.lowerBound..<range.upperBound
      } else {
        merged.append(range)
      }
    }
  }
}

/// The reason why a file's tables cannot be moved to the front. A broken file is a `FormatError`.
package enum FaststartError: Error, Hashable, Sendable {
  /// The file is not an MP4 or MOV file.
  case otherFormat(MediaType)
  /// The tables are in front already.
  case tablesInFront
  /// The file has fragments, each with its tables in front.
  case fragmented
  /// The tables are compressed (QuickTime's `cmov`).
  case compressed
  /// The samples are encrypted; the offsets of their key data would change, too.
  case encrypted
  /// A structure other than the sample tables has offsets into the file, and is not
  /// supported: the box at this offset.
  case otherOffsets(box: String, offset: Int64)
  /// A table places a chunk of samples at an offset without media data.
  case chunkOutside(chunkOffset: Int64)
}

extension FaststartError: CustomStringConvertible {
  /// The reason as a clause.
  package var description: String {
    switch self {
    case .otherFormat(let type): "the file has type \(type.value), not MP4 or MOV"
    case .tablesInFront: "the tables are already in front"
    case .fragmented: "the file is fragmented, with its tables already in front"
    case .compressed: "the tables are compressed, which is not supported"
    case .encrypted: "the samples are encrypted, which is not supported"
    case .otherOffsets(let box, let offset):
      "the box \(box) at byte \(offset) refers to offsets of data, which is not supported"
    case .chunkOutside(let offset):
      "a chunk refers to byte \(offset), where the file has no media data"
    }
  }
}
