import Catalog
import MediaFiles
import System

/// Distributes the files of all targets, one at a time, to the threads that ask.
///
/// It does not list files ahead: it looks for a file when a thread is free. Large files come last, so that
/// the others do not wait for them.
final class MediaQueue: Sendable {
  /// A piece of work.
  enum Work: Sendable {
    /// A file, and whether it is a target itself.
    case file([String], isNamed: Bool)
    /// An object in a list.
    case object([String], MediaStatus)
    /// A file and the URL by which a post names it.
    case namedByPost([String], url: String)
    /// Something that is not served.
    case notServed([String])
    /// Something that cannot be inspected, and the reason.
    case problem(path: String, reason: String)
    /// The store failed.
    case stopped(any Error)
  }

  private struct State: Sendable {
    var targets: ArraySlice<MediaTarget>
    var walk: MediaWalk?
    var objects: MediaObjects?
    /// Whether they are all objects of the bucket.
    var listsAll = false
    var named: NamedMedia?
    /// Files kept for the end.
    var postponed: [Work] = []
    var isStopped = false
  }

  /// The maximum number of files kept for the end; further ones come in their order.
  private static let maximumPostponed = 4_096

  private let storage: MediaStorage
  private let listed: ListedObjects
  private let addresses: MediaAddresses
  private let store: any MediaStore
  private let state: Monitor<State>

  init(
    _ targets: [MediaTarget], in storage: MediaStorage, _ listed: ListedObjects,
    _ addresses: MediaAddresses, _ store: any MediaStore
  ) {
    self.storage = storage
    self.listed = listed
    self.addresses = addresses
    self.store = store
    state = Monitor(State(targets: targets[...]))
  }

  /// Ends the queue.
  func stop() { state.withLock { $0.isStopped = true } }

  /// Returns the next work, and whether it was postponed or can no longer be; nil at the end.
  func next() -> (work: Work, isDue: Bool)? {
    state.withLock { state in
      if let work = next(&state) {
        return (work, state.postponed.count >= Self.maximumPostponed)
      }
      return state.isStopped ? nil : state.postponed.popLast().map { ($0, true) }
    }
  }

  /// Keeps the work until there is no other.
  func postpone(_ work: Work) { state.withLock { $0.postponed.append(work) } }

  private func next(_ state: inout State) -> Work? {
    while !state.isStopped {
      if let step = state.walk?.next() {
        switch step {
        case .file(let segments): return .file(segments, isNamed: false)
        case .notServed(let segments): return .notServed(segments)
        case .passedOver: continue
        case .problem(let path, let problem):
          return .problem(path: path, reason: problem.description)
        }
      }
      state.walk = nil
      do {
        if let object = try state.objects?.next() {
          if state.listsAll { listed.add(object.segments, object.status) }
          return .object(object.segments, object.status)
        }
        if state.objects != nil, state.listsAll { listed.end() }
        state.objects = nil
        if let url = try state.named?.next(from: store) {
          guard let segments = addresses.segments(of: url) else { continue }
          return .namedByPost(segments, url: url)
        }
      } catch {
        state.isStopped = true
        return .stopped(error)
      }
      state.named = nil
      switch state.targets.popFirst() {
      case .file(let segments): return .file(segments, isNamed: true)
      case .namedByPosts: state.named = NamedMedia()
      case .folder(let segments):
        guard case .folder(let root) = storage else {
          state.listsAll = segments.isEmpty
          if segments.isEmpty { listed.begin() }
          state.objects = storage.bucket.map {
            MediaObjects($0, below: segments, passingOver: RenditionShelf.folderName)
          }
          continue
        }
        do throws(MediaError) {
          state.walk = try MediaWalk(
            root, below: segments, passingOver: RenditionShelf.folderName)
        } catch {
          return .problem(
            path: segments.joined(separator: "/"),
            reason: MediaWalk.WalkProblem.media(error).description)
        }
      case nil: return nil
      }
    }
    return nil
  }
}

/// Iterates over the URLs by which posts name files of the media root, some at a time.
private struct NamedMedia: Sendable {
  /// The next URLs, in reverse order.
  private var urls: [String] = []
  private var last = MediaAddresses.servedPrefix
  private var isComplete = false

  private static let urlsAtOnce = 512

  /// Returns the next URL; nil at the end.
  mutating func next(from store: any MediaStore) throws -> String? {
    if urls.isEmpty, !isComplete {
      let page = try store.namedMedia(after: last, limit: Self.urlsAtOnce)
        .prefix { $0.utf8.starts(with: MediaAddresses.servedPrefix.utf8) }
      isComplete = page.count < Self.urlsAtOnce
      last = page.last ?? last
      urls = page.reversed()
    }
    return urls.popLast()
  }
}
