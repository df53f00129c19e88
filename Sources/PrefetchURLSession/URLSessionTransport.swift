import Foundation
import PrefetchClient
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Requests over a URLSession: HTTP/2, HTTP/3, cookies, proxies and the cache of the platform.
///
/// Pages may be answered from the session's `URLCache`; ranges never are, because platforms keep no 206.
public final class URLSessionTransport: NSObject, Transport {
  private let session: URLSession
  private let router: AnswerRouter

  /// A transport on a session of this configuration. The session lives until `invalidate`.
  public init(_ configuration: URLSessionConfiguration = .default) {
    router = AnswerRouter()
    session = URLSession(configuration: configuration, delegate: router, delegateQueue: nil)
  }

  /// Ends the session and what is under way.
  public func invalidate() { session.invalidateAndCancel() }

  /// Sends a GET and returns as soon as the head of the answer is there.
  public func answer(
    to request: TransportRequest
  ) async throws(TransportError) -> TransportAnswer {
    var asked = URLRequest(
      url: request.url,
      cachePolicy: request.bypassesCaches || request.fields.contains { $0.name == "Range" }
        ? .reloadIgnoringLocalCacheData : .useProtocolCachePolicy,
      timeoutInterval: Double(request.timeoutMilliseconds) / 1_000)
    for field in request.fields { asked.setValue(field.value, forHTTPHeaderField: field.name) }
    let task = session.dataTask(with: asked)
    // On the delegate's own queue, behind what it is told: a task that is resumed before it was suspended
    // would rest for ever.
    let queue = session.delegateQueue
    let pipe = AnswerPipe(
      stop: { Self.stop(task, on: queue) }, resume: { queue.addOperation { task.resume() } })
    router.add(pipe, for: task)
    task.resume()
    return try await pipe.answer()
  }
}

extension URLSessionTransport {
  /// Ends a task. On Linux it is left to end by itself, and what still comes of it, the rest of one request,
  /// is dropped: swift-corelibs-foundation crashes when a task is cancelled that is just ending ("a task that
  /// is not in the registry", Swift 6.3).
  private static func stop(_ task: URLSessionDataTask, on queue: OperationQueue) {
    #if !canImport(FoundationNetworking)
      queue.addOperation { task.cancel() }
    #endif
  }
}

/// Brings what the session tells of its tasks to their bodies.
private final class AnswerRouter: NSObject, URLSessionDataDelegate {
  private let pipes = Mutex<[Int: WeakPipe]>([:])

  private struct WeakPipe: Sendable {
    weak let pipe: AnswerPipe?
  }

  func add(_ pipe: AnswerPipe, for task: URLSessionTask) {
    pipes.withLock { $0[task.taskIdentifier] = WeakPipe(pipe: pipe) }
  }

  private func pipe(of task: URLSessionTask) -> AnswerPipe? {
    pipes.withLock { $0[task.taskIdentifier]?.pipe }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    guard let pipe = pipe(of: dataTask), let response = response as? HTTPURLResponse else {
      return completionHandler(.cancel)
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
    let pipe = pipes.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.pipe
    pipe?.finish(error.map(TransportError.init))
  }
}

extension TransportError {
  /// What a session's error means.
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
