import Catalog
import Feed
import MediaFiles
import MediaFormats
import MediaProbe
import System

/// Inspects one file, no further than necessary: not at all if its status is unchanged, and without decoding
/// if its content is known.
struct FileLook: Sendable {
  let storage: MediaStorage
  let listed: ListedObjects
  let addresses: MediaAddresses
  let store: any MediaStore
  let probe: MediaProbe
  let desk: ContentDesk
  let shelf: RenditionShelf
  /// Whether each file is probed again, even if its facts are known.
  let isAnew: Bool
  /// The outcomes of files in earlier runs; nil if they are not remembered.
  let memory: MediaMemory?
  /// The time after a change during which a file may still be being written.
  let settlingMilliseconds: Int

  /// Returns the outcome of the file with these path segments, which a post may name by a URL of its own.
  ///
  /// - Parameter status: the file's status, if a list of a bucket contained it.
  func outcome(
    of segments: [String], isNamed: Bool, url: String? = nil, status: MediaStatus? = nil
  ) -> MediaOutcome {
    let (path, inner): (String, () -> MediaOutcome)
    switch storage {
    case .folder(let root):
      path = root.path + "/" + segments.joined(separator: "/")
      inner = { [path] in outcome(of: segments, in: root, path, isNamed, url) }
    case .bucket(let bucket):
      path = bucket.address.description + segments.joined(separator: "/")
      inner = { [path] in outcome(of: segments, in: bucket, path, isNamed, url, status) }
    }
    guard let memory else { return inner() }
    let stamp = stamp(of: segments, status)
    let name = url ?? path
    if let fate = memory.fate(of: name, stamp) { return .remembered(fate) }
    let result = inner()
    if let fate = result.fate { memory.remember(name, stamp, fate) }
    return result
  }

  /// Returns a stamp of the file's status. A file without a status fails, and in the same way until it has one.
  private func stamp(of segments: [String], _ status: MediaStatus?) -> Int {
    switch storage {
    case .folder(let root):
      return (try? root.status(of: segments)).map(MediaMemory.stamp) ?? MediaMemory.absent
    case .bucket(let bucket):
      if let status { return MediaMemory.stamp(status) }
      switch listed.entry(segments) {
      case .found(let status): return MediaMemory.stamp(status)
      case .absent: return MediaMemory.absent
      case .unknown:
        return (try? bucket.status(of: segments)).map(MediaMemory.stamp) ?? MediaMemory.absent
      }
    }
  }

  /// Returns the URLs of a file, including the one by which a post names it.
  private func urls(of segments: [String], _ url: String?) -> [String] {
    var urls = addresses.urls(of: segments)
    if let url, !urls.contains(where: { $0.utf8.elementsEqual(url.utf8) }) { urls.append(url) }
    return urls
  }

  private func outcome(
    of segments: [String], in root: MediaRoot, _ path: String, _ isNamed: Bool, _ url: String?
  ) -> MediaOutcome {
    let urls = urls(of: segments, url)
    do {
      let status = try root.status(of: segments)
      let known = isAnew ? [] : try store.media(at: urls)
      if let outcome = try outcome(
        of: segments, path, urls, MediaStatus(status), asKnown: known)
      {
        return outcome
      }
      if isUnsettled(status) { return .waiting(urls: urls) }
      let file = try root.open(segments)
      guard try isNamed || file.mayBeMedia(named: segments.last ?? "") else {
        return .passedOver(urls: urls)
      }
      return try outcome(of: file, segments, path, urls)
    } catch {
      return outcome(of: error, path, urls)
    }
  }

  /// Returns the outcome of a file that could not be inspected.
  private func outcome(of error: any Error, _ path: String, _ urls: [String]) -> MediaOutcome {
    switch error {
    // An unreachable store tells nothing about its objects: the run ends.
    case let error as MediaError where error.isPassing: return .stopped(error)
    case let error as MediaError:
      // Another server of the same files may still have it.
      let gone: [String] =
        if case .notFound = error {
          urls.filter { $0.utf8.starts(with: MediaAddresses.servedPrefix.utf8) }
        } else { [] }
      return .failed(
        path: path, reason: MediaWalk.WalkProblem.media(error).description, urls: urls,
        unavailableURLs: gone, sha256: nil)
    case ProbeError.cancelled: return .waiting(urls: [])
    case ProbeError.changed where settlingMilliseconds > 0: return .waiting(urls: urls)
    // An object is always complete: the next run finds the new one.
    case ProbeError.remote(.changed), RemoteError.changed: return .waiting(urls: urls)
    case let error as ProbeError:
      return .failed(
        path: path, reason: error.description, urls: urls,
        unavailableURLs: error.isOfBrokenFile ? urls : [], sha256: nil)
    case let error as SystemError:
      return .failed(path: path, reason: error.reason, urls: urls, sha256: nil)
    default: return .stopped(error)
    }
  }

  /// Returns the outcome of a file that is unchanged since it was read: `unchanged` if the facts are stored
  /// for each of its URLs with the current renditions. Nil if the file must be read.
  private func outcome(
    of segments: [String], _ path: String, _ urls: [String], _ status: MediaStatus,
    asKnown known: [KnownMedia?]
  ) throws -> MediaOutcome? {
    let time = Int64(status.changed.nanosecondsSince1970)
    let first = known.lazy.compactMap(\.self).first { media in
      switch media.truth.version {
      case .content: break
      // An object's content is not read as a whole.
      case .entityTag where status.entityTag != nil: break
      default: return false
      }
      guard !probe.knowsBetter(than: media.truth) else { return false }
      return media.truth.bytes == status.bytes && media.changedNanoseconds == time
    }
    guard let first else { return nil }
    let found = try renditions(ofKnown: first.truth, at: segments, path)
    let media = addresses.media(at: urls, first.truth.alone, found, time)
    let changed = zip(media, known).filter { $0 != $1 }.map(\.0)
    return changed.isEmpty
      ? .unchanged(found.renditions)
      : .known(
        .init(
          path: path, media: changed, notes: nil, sha256: nil, renditions: found.renditions))
  }

  /// Returns the renditions of an unchanged file. In a bucket, checking them takes a request for each file.
  /// So a service, which repeats its runs, keeps the known ones until a run without a memory checks them.
  private func renditions(
    ofKnown truth: MediaTruth, at segments: [String], _ path: String
  ) throws(ProbeError) -> RenditionShelf.Found {
    guard storage.bucket != nil, memory != nil, shelf.maker == nil else {
      return try shelf.renditions(of: truth, at: segments, path)
    }
    var found = RenditionShelf.Found(renditions: .init(path: path))
    found.files = truth.variants.compactMap { variant in
      addresses.segments(of: variant.url).map { ($0, variant.truth) }
    }
    return found
  }

  private func isUnsettled(_ status: FileStatus) -> Bool {
    let now = WallClock.exactNow.nanosecondsSince1970
    let (age, overflow) = now.subtractingReportingOverflow(status.changed.nanosecondsSince1970)
    // A change time in the future, from before a clock was set back, is not waited for.
    return !overflow && (0..<settlingMilliseconds * 1_000_000).contains(age)
  }

  /// Waits for the end of the tick of the file system's clock in which the file last changed. A write in the
  /// same tick would not change the time, so the file is read after it.
  private static func waitForTick(after changed: Moment) {
    let now = WallClock.exactNow.nanosecondsSince1970
    let (age, overflow) = now.subtractingReportingOverflow(changed.nanosecondsSince1970)
    guard !overflow, (0..<tickNanoseconds).contains(age) else { return }
    CurrentThread.rest(nanoseconds: UInt64(tickNanoseconds - age))
  }

  /// Longer than the tick of any kernel (10 ms at 100 Hz).
  private static let tickNanoseconds = 20_000_000

  private func outcome(
    of file: OpenFile, _ segments: [String], _ path: String, _ urls: [String]
  ) throws -> MediaOutcome {
    Self.waitForTick(after: file.changed)
    let sha256 = try probe.digest(of: file)
    func finding(
      _ truth: MediaTruth, _ notes: [ProbeNote]?
    ) throws(ProbeError) -> MediaOutcome {
      let changed = Int64(file.changed.nanosecondsSince1970)
      let found = try shelf.renditions(of: truth, at: segments, path)
      return .known(
        .init(
          path: path, media: addresses.media(at: urls, truth, found, changed), notes: notes,
          sha256: sha256, renditions: found.renditions))
    }
    if let result = desk.claim(sha256) {
      return try finding(result.get().truth, nil)
    }
    do {
      if !isAnew, let truth = try store.truth(ofContent: sha256), !probe.knowsBetter(than: truth) {
        desk.finish(sha256, .success(ProbeReport(truth: truth)))
        return try finding(truth, nil)
      }
    } catch {
      desk.release(sha256)
      throw error
    }
    do throws(ProbeError) {
      let report = try probe.probe(file, sha256: sha256)
      if let problem = report.truth.problem {
        throw .unbelievable(program: "lookahead", "\(problem.field) \(problem.words)")
      }
      desk.finish(sha256, .success(report))
      return try finding(report.truth, report.notes)
    } catch {
      switch error {
      // A result for a file that changed does not hold for any content.
      case .changed where settlingMilliseconds > 0, .cancelled:
        desk.release(sha256)
        throw error
      case .changed: desk.release(sha256)
      default: desk.finish(sha256, .failure(error))
      }
      return .failed(
        path: path, reason: error.description, urls: urls,
        unavailableURLs: error.isOfBrokenFile ? urls : [], sha256: sha256)
    }
  }
}

extension FileLook {
  /// Returns the outcome of an object. It reads only the bytes for its structure and first frame. An object
  /// is always complete, so none has to settle.
  private func outcome(
    of segments: [String], in bucket: MediaBucket, _ path: String, _ isNamed: Bool, _ url: String?,
    _ status: MediaStatus?
  ) -> MediaOutcome {
    let urls = urls(of: segments, url)
    do {
      let earlier = try store.media(at: urls)
      let known = isAnew ? [] : earlier
      var status = status
      if status == nil, case .found(let found) = listed.entry(segments) { status = found }
      if let status,
        let outcome = try outcome(of: segments, path, urls, status, asKnown: known)
      {
        return outcome
      }
      let object = ObjectProbe(bucket, probe)
      let first = try object.first(of: segments)
      if let outcome = try outcome(of: segments, path, urls, first.status, asKnown: known) {
        return outcome
      }
      guard isNamed || OpenFile.mayBeMedia(head: first.bytes, named: segments.last ?? "") else {
        return .passedOver(urls: urls)
      }
      var report = try object.report(of: segments, first)
      let changed = Int64(first.status.changed.nanosecondsSince1970)
      // The same object has the content found when all of it was read.
      let whole = earlier.lazy.compactMap(\.self)
        .first { $0.isByContent(bytes: first.status.bytes, changedNanoseconds: changed) }
      report.truth.version = whole?.truth.version ?? report.truth.version
      let found = try shelf.renditions(of: report.truth, at: segments, path)
      return .known(
        .init(
          path: path, media: addresses.media(at: urls, report.truth, found, changed),
          notes: report.notes, sha256: nil, renditions: found.renditions))
    } catch {
      return outcome(of: error, path, urls)
    }
  }
}

extension MediaAddresses {
  /// Returns the facts to store for a file at each of its URLs. The URLs of its renditions
  /// begin with the same prefix.
  func media(
    at urls: [String], _ truth: MediaTruth, _ found: RenditionShelf.Found, _ changed: Int64
  ) -> [KnownMedia] {
    urls.map { url in
      var truth = truth
      if let sha256 = found.sha256 { truth.version = .content(sha256: sha256) }
      truth.variants = found.files.map { file in
        MediaVariant(url: self.url(of: file.segments, beside: url), truth: file.truth)
      }
      return KnownMedia(url: url, truth: truth, changedNanoseconds: changed)
    }
  }
}

extension OpenFile {
  /// Whether the first bytes or the name are those of an image, a video or a sound.
  func mayBeMedia(named name: String) throws(SystemError) -> Bool {
    Self.mayBeMedia(head: try read(at: 0, count: MediaType.headBytes), named: name)
  }

  /// Whether these first bytes or the name are those of an image, a video or a sound.
  static func mayBeMedia(head: [UInt8], named name: String) -> Bool {
    let head = Array(head.prefix(MediaType.headBytes))
    return MediaType(head: head, name: "").isMedia || head.contains("<svg")
      || mediaExtensions.contains { name.lowercased().hasSuffix("." + $0) }
  }

  /// The extensions of names of pictures, clips and sounds.
  static let mediaExtensions = [
    "jpg", "jpeg", "png", "apng", "gif", "webp", "avif", "heic", "heif", "bmp", "svg", "mp4",
    "m4v", "mov", "webm", "mkv", "ogv", "avi", "ts", "3gp", "mp3", "m4a", "aac", "wav", "flac",
    "ogg", "opus", "mka",
  ]
}

extension ProbeError {
  /// Whether the file itself is broken, as opposed to a limit or a failure of this machine.
  package var isOfBrokenFile: Bool {
    switch self {
    case .cutShort, .undecodable: true
    case .format(let error):
      switch error.reason {
      case .empty, .cutShort, .malformed: true
      case .unknownFormat, .unsupported, .tooMany: false
      }
    case .system, .notAFile, .tooLarge, .readingTimedOut, .changed, .cancelled, .decodingTimedOut,
      .unbelievable, .remote:
      false
    }
  }
}

extension MediaType {
  fileprivate var isMedia: Bool {
    ["image/", "video/", "audio/"].contains { value.hasPrefix($0) } || value == "application/ogg"
  }
}

extension [UInt8] {
  fileprivate func contains(_ text: StaticString) -> Bool {
    let text = Array(text.description.utf8)
    guard count >= text.count else { return false }
    return (0...(count - text.count)).contains { self[$0..<$0 + text.count].elementsEqual(text) }
  }
}
