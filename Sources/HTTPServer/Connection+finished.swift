import HTTP
import System

/// An answer that is in the output queue.
struct Departing {
  /// At which count of written bytes it ends.
  let endsAt: Int
  /// At which it begins.
  let beginsAt: Int
  let startNanoseconds: UInt64
  var request: FinishedRequest
}

extension Connection {
  /// Tells the observer of the answers that have left whole.
  func noteDepartures() {
    guard let observer = worker.context.observer, !departing.isEmpty else { return }
    let written = output.writtenCount
    guard departing[0].endsAt <= written else { return }
    let now = MonotonicClock.nanoseconds
    if departing.count == 1 {
      let answer = departing.removeLast()
      if departing.capacity > 2 { departing = [] }
      return tell(observer, answer, written: written, now: now)
    }
    var count = 0
    while count < departing.count, departing[count].endsAt <= written {
      tell(observer, departing[count], written: written, now: now)
      count += 1
    }
    departing.removeFirst(count)
    if departing.isEmpty { departing = [] }
  }

  /// Tells the observer of the answers that will not leave whole.
  func noteLosses() {
    guard let observer = worker.context.observer, !departing.isEmpty else { return }
    let now = MonotonicClock.nanoseconds
    for answer in departing { tell(observer, answer, written: output.writtenCount, now: now) }
    departing = []
  }

  private func tell(
    _ observer: any ServerObserver, _ answer: consuming Departing, written: Int, now: UInt64
  ) {
    var request = answer.request
    request.bytes = max(0, min(written, answer.endsAt) - answer.beginsAt)
    request.microseconds = Int((now - answer.startNanoseconds) / 1000)
    observer.finished(request)
  }
}
