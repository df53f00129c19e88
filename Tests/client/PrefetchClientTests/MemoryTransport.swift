import Foundation
import PrefetchClient
import Synchronization

/// Brings what a `WildServer` answers without any network, in pieces of many sizes.
struct MemoryTransport: Transport {
  let server: WildServer

  func answer(to request: TransportRequest) async throws(TransportError) -> TransportAnswer {
    func field(_ name: String) -> String? { request.fields.first { $0.name == name }?.value }
    await Task.yield()
    if Task.isCancelled { throw .cancelled }
    let answer = server.answer(range: field("Range"), ifRange: field("If-Range"))
    return TransportAnswer(
      status: answer.status, fields: TransportFields(answer.fields),
      body: Body(answer.body, cutAt: answer.cutAt))
  }

  final class Body: TransportBody {
    private struct State {
      var rest: ArraySlice<UInt8>
      var isCut: Bool
      var pieces = 0
      var isCancelled = false
    }

    private let state: Mutex<State>

    init(_ bytes: [UInt8], cutAt: Int?) {
      state = Mutex(State(rest: bytes.prefix(cutAt ?? .max), isCut: cutAt != nil))
    }

    func next() async throws(TransportError) -> [UInt8]? {
      await Task.yield()
      if Task.isCancelled { throw .cancelled }
      let result = state.withLock { state -> Result<[UInt8]?, TransportError> in
        if state.isCancelled { return .failure(.cancelled) }
        if state.rest.isEmpty { return state.isCut ? .failure(.cut("here")) : .success(nil) }
        state.pieces += 1
        let piece = state.rest.prefix([1, 20_000, 3_000, 70_000][state.pieces % 4])
        state.rest = state.rest.dropFirst(piece.count)
        return .success(Array(piece))
      }
      return try result.get()
    }

    func cancel() { state.withLock { $0.isCancelled = true } }
  }
}
