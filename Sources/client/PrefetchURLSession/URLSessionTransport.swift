import Foundation
import PrefetchClient
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A transport over URLSession, with the HTTP/2, HTTP/3, cookies, proxies and cache of the platform.
///
/// The session's `URLCache` may answer requests for pages, but never those for ranges, because platforms keep
/// no 206.
public final class URLSessionTransport: NSObject, Transport {
  private let session: URLSession
  private let router: AnswerRouter

  /// Creates a transport on a session with this configuration. The session lives until `invalidate`.
  public init(_ configuration: URLSessionConfiguration = .default) {
    router = AnswerRouter()
    session = URLSession(configuration: configuration, delegate: router, delegateQueue: nil)
  }

  /// Ends the session and its tasks.
  public func invalidate() {
    // `invalidateAndCancel` would cancel tasks that must not be cancelled yet (`AnswerRouter.mayCancel`).
    let hasCache = session.configuration.urlCache != nil
    for task in router.tasks where router.mayCancel(task, hasCache: hasCache) {
      session.delegateQueue.addOperation { task.cancel() }
    }
    session.finishTasksAndInvalidate()
  }

  /// Sends a request, and returns as soon as the head of the answer has arrived.
  public func answer(
    to request: TransportRequest
  ) async throws(TransportError) -> TransportAnswer {
    var asked = URLRequest(
      url: request.url,
      cachePolicy: request.bypassesCaches || request.fields.contains { $0.name == "Range" }
        ? .reloadIgnoringLocalCacheData : .useProtocolCachePolicy,
      timeoutInterval: Double(request.timeoutMilliseconds) / 1_000)
    for field in request.fields { asked.setValue(field.value, forHTTPHeaderField: field.name) }
    if let content = request.content {
      asked.httpMethod = "POST"
      asked.setValue(content.type, forHTTPHeaderField: "Content-Type")
      asked.httpBody = Data(content.bytes)
    }
    let task = session.dataTask(with: asked)
    // On the delegate's own queue, after its callbacks: a task that is resumed before it was suspended would
    // stay suspended for ever.
    let queue = session.delegateQueue
    let hasCache = session.configuration.urlCache != nil
    let pipe = AnswerPipe(
      stop: { [router] in
        if router.mayCancel(task, hasCache: hasCache) { queue.addOperation { task.cancel() } }
      }, resume: { queue.addOperation { task.resume() } })
    router.add(pipe, for: task)
    task.resume()
    return try await pipe.answer()
  }
}

/// Passes the session's callbacks about its tasks to their pipes.
private final class AnswerRouter: NSObject, URLSessionDataDelegate {
  private let entries = Mutex<[Int: Entry]>([:])

  private struct Entry: Sendable {
    let task: URLSessionTask
    weak let pipe: AnswerPipe?
    /// Whether the head of the answer has arrived.
    var isAnswered = false
    /// Whether to cancel the task as soon as that is allowed.
    var isUnwanted = false
  }

  func add(_ pipe: AnswerPipe, for task: URLSessionTask) {
    entries.withLock { $0[task.taskIdentifier] = Entry(task: task, pipe: pipe) }
  }

  /// The tasks that have not ended.
  var tasks: [URLSessionTask] { entries.withLock { $0.values.map(\.task) } }

  private func pipe(of task: URLSessionTask) -> AnswerPipe? {
    entries.withLock { $0[task.taskIdentifier]?.pipe }
  }

  /// Whether the task may be cancelled now; if not, it is cancelled when its head arrives.
  ///
  /// On Linux a task of a session with a `URLCache` must not be cancelled before its head has arrived. A
  /// queue of its own asks the cache first. If the task is cancelled meanwhile, its failure is reported when
  /// the registry no longer has it: "Trying to access a behaviour for a task that in not in the registry",
  /// which ends the process (swift-corelibs-foundation of Swift 6.3, whatever the request's cache policy).
  func mayCancel(_ task: URLSessionTask, hasCache: Bool) -> Bool {
    #if canImport(FoundationNetworking)
      guard hasCache else { return true }
      return entries.withLock { entries in
        guard let entry = entries[task.taskIdentifier], !entry.isAnswered else { return true }
        entries[task.taskIdentifier]?.isUnwanted = true
        return false
      }
    #else
      return true
    #endif
  }

  private func answered(_ task: URLSessionTask) -> (pipe: AnswerPipe?, isUnwanted: Bool) {
    entries.withLock { entries in
      entries[task.taskIdentifier]?.isAnswered = true
      let entry = entries[task.taskIdentifier]
      return (entry?.pipe, entry?.isUnwanted ?? true)
    }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    let (pipe, isUnwanted) = answered(dataTask)
    guard let pipe, !isUnwanted, let response = response as? HTTPURLResponse else {
      completionHandler(.allow)
      return dataTask.cancel()
    }
    let fields = response.allHeaderFields.compactMap { name, value in
      (name as? String).flatMap { name in (value as? String).map { (name: name, value: $0) } }
    }
    pipe.receive(
      AnswerPipe.Head(status: response.statusCode, fields: TransportFields(fields)))
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    if pipe(of: dataTask)?.receive(Array(data)) == true { dataTask.suspend() }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    let pipe = entries.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.pipe
    pipe?.finish(error.map(TransportError.init))
  }
}

extension TransportError {
  /// Maps a session's error.
  fileprivate init(_ error: any Error) {
    switch (error as? URLError)?.code {
    case .cancelled: self = .cancelled
    case .timedOut: self = .timedOut
    case .networkConnectionLost: self = .cut(error.localizedDescription)
    case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData:
      self = .malformed(error.localizedDescription)
    default: self = .unreachable(error.localizedDescription)
    }
  }
}
