import Catalog
import Feed
import HTTP
import HTTPServer
import JSON
import MediaFiles
import MediaIndex
import PostJSON
import System

/// The files of the media root, page by page in the order of the bytes of their names, with what is known of
/// each. Smaller versions that the server made are not listed.
///
/// A page reads the names in the folders in which it begins and ends, not the other files; for a bucket, it
/// takes one list request.
struct MediaListHandler: RouteHandler {
  static let parameters = ["limit", "after"]
  private static let limits = 1...1000
  private static let defaultLimit = 100

  let media: MediaFolder?
  let store: any MediaStore
  let linking: MediaLinking
  let workers: RequestWorkers
  let encoding: BodyEncoding

  func answer(_ call: Call) throws {
    try call.head.writer?.get().checkMedia()
    guard let storage = media?.storage else { throw Problem.noMediaFolder }
    let limit = try call.parameters.number("limit", in: Self.limits) ?? Self.defaultLimit
    let after = try call.parameters["after"].map(Self.segments)
    let answer: @Sendable () -> Void = {
      call.attempt {
        encoding.answer(try page(storage, after: after ?? [], limit: limit), to: call)
      }
    }
    // Waiting for an object store must not keep a worker from pages.
    if let objects = media?.objects { return try objects.run(answer) }
    try workers.run(for: call, of: "a worker", answer)
  }

  /// The segments of the path in the `next` of a page.
  private static func segments(_ cursor: String) throws -> [String] {
    guard let segments = MediaAddresses.served.segments(of: cursor), !segments.isEmpty,
      segments.count <= MediaRoot.depthLimit, segments.allSatisfy({ !$0.isEmpty })
    else {
      throw ParameterError(
        parameter: "after", problem: "is not the path of a media file, such as /media/a/b.jpg")
    }
    return segments
  }

  private func page(
    _ storage: MediaStorage, after: [String], limit: Int
  ) throws -> Representation {
    var listing = try MediaListing(
      storage, after: after, passingOver: RenditionShelf.folderName, atOnce: limit + 1,
      forClient: true)
    var found: [(segments: [String], status: MediaStatus)] = []
    while found.count <= limit, let file = try listing.next() { found.append(file) }
    let hasMore = found.count > limit
    if hasMore { found.removeLast() }
    let paths = found.map { MediaAddresses.served.urls(of: $0.segments)[0] }
    let known = try store.media(at: paths)
    let (links, now) = (linking.links, WallClock.now)
    var writer = JSONWriter(capacity: 512 * (found.count + 1))
    writer.object { writer in
      writer.array("files") { writer in
        for (index, file) in found.enumerated() {
          writer.file(paths[index], file.status, known[index], links, now)
        }
      }
      let next = hasMore ? paths.last : nil
      writer.object("paging") { writer in
        writer.key("next")
        if let next { writer.string(next) } else { writer.null() }
        writer.object("links") { writer in
          writer.member(
            "next",
            next.map {
              "/v1/media?limit=\(limit)&after=\(PercentEncoding.encode($0, for: .queryValue))"
            })
        }
      }
    }
    return Representation(writer.bytes, caching: .none)
  }
}

extension JSONWriter {
  fileprivate mutating func file(
    _ path: String, _ status: MediaStatus, _ known: KnownMedia?, _ links: MediaLinks,
    _ now: Moment
  ) {
    // The known facts may be about an earlier file with this name.
    let truth = known.flatMap { known in
      known.changedNanoseconds == Int64(status.changed.nanosecondsSince1970) ? known.truth : nil
    }
    let name = links.name(of: Array(path.utf8).span, version: truth?.version)
    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    object { writer in
      writer.member("url", name?.url.map(text) ?? path)
      writer.member("immutableUrl", name?.immutableURL.map(text))
      writer.member("path", path)
      writer.member("bytes", status.bytes)
      writer.member(
        "modifiedAt",
        Timestamp(microseconds: Int64(status.modified.nanosecondsSince1970) / 1000).rfc3339)
      writer.member("etag", FileValidator(status, now: now).entityTag.description)
      if let truth {
        writer.object("media") { $0.members(of: truth) }
      }
    }
  }
}
