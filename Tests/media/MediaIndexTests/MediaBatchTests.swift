import Catalog
import Feed
import TestSupport
import Testing

@testable import MediaIndex

/// What is found out of files is written over what was known, but for what became known meanwhile.
@Suite struct MediaBatchTests {
  private static let url = "/media/a.png"

  private static func media(_ version: MediaVersion, changed: Int64) -> KnownMedia {
    KnownMedia(
      url: url,
      truth: MediaTruth(kind: .image, bytes: 100, mimeType: "image/png", version: version),
      changedNanoseconds: changed)
  }

  @Test func `an object that was read as a whole meanwhile stays known by its content`() throws {
    let content = MediaVersion.content(sha256: [UInt8](repeating: 7, count: 32))
    let tag = try #require(MediaVersion(text: "etag:\"v1\""))
    for (changed, isSame) in [(1_000, true), (2_000, false)] as [(Int64, Bool)] {
      let folder = try MediaFolder()
      defer { withExtendedLifetime(folder) {} }
      let store = try folder.store()
      // A look by ranges began before the upload or the smaller versions were written, and ends behind them.
      var batch = MediaBatch(store: store, desk: ContentDesk(), isDry: false) { true }
      try batch.add(
        .known(
          .init(
            path: "a.png", media: [Self.media(tag, changed: changed)], notes: [], sha256: nil,
            renditions: .init(path: "a.png"))), { _ in })
      try store.keep([Self.media(content, changed: 1_000)])
      try batch.write()
      let known = try #require(try store.media(at: [Self.url])[0])
      #expect(known.truth.version == (isSame ? content : tag))
      #expect(known.changedNanoseconds == changed)
      try store.close()
    }
  }
}
