import HTTP

@testable import HTTPServer

/// All that is around a connection's machine, played without sockets and clocks: a client, an
/// application, whoever takes a body, and the event loop. Nothing happens by itself; who owes something
/// is known, and `ConnectionInvariant` is checked after every step.
struct MachineWorld {
  /// A request that the application has got.
  struct Call {
    let request: Request
    let exchange: UInt64
    let streamsBody: Bool
    var isAnswered = false
  }

  /// A body that somebody takes as it comes.
  struct Stream {
    let exchange: UInt64
    var waiting: [UInt8] = []
    var taken: [UInt8] = []
    var end: StreamEnd?
  }

  var around: Surroundings
  /// How much memory the answers of other connections hold.
  var foreignBytes = 0 {
    didSet { around.heldBytes += foreignBytes - oldValue }
  }
  var machine: ConnectionMachine
  /// What the client has sent and nobody has read, and what was read and not consumed.
  var inbox: [UInt8] = []
  var pending: [UInt8] = []
  var clientHasFinished = false
  /// What the client has got, and how much more it would take.
  var written: [UInt8] = []
  var window = Int.max
  var hasFinishedSending = false
  var closing: (isCutOff: Bool, isDone: Bool) = (false, false)

  var calls: [Call] = []
  /// Whether the application answers within the call, as far as it can.
  var answersAtOnce = true
  var streams: [Stream] = []
  /// How often an answer without end was asked for more, and whether because nothing was sent for long.
  var streamAsks: [Bool] = []
  /// The piece of an answer that somebody is to bring.
  var asked: (source: any PieceSource, range: Range<Int>)?
  /// What the loop owes.
  var owesGathering = false
  var owesTurn = false
  var lastWait: ConnectionWait?
  var errors: [ProtocolError] = []
  var actionCount = 0

  init(_ configure: (inout ServerConfiguration) -> Void = { _ in }) {
    var configuration = ServerConfiguration()
    configuration.streamBufferBytes = 16
    configuration.readBufferBytes = 4096
    configuration.discardedBodyBytes = 100
    configure(&configuration)
    around = Surroundings(
      configuration: configuration, isObserved: true, nowMilliseconds: 1_000_000)
    around.dateLine = Array("Date: today\r\n".utf8)
    machine = ConnectionMachine(
      limits: configuration.limits, nowMilliseconds: around.nowMilliseconds)
    run()
  }

  var isClosed: Bool { closing.isDone }
  var hasOwed: Bool { calls.contains { !$0.isAnswered } }

  // MARK: The client

  mutating func send(_ text: String) { send(Array(text.utf8)) }
  mutating func send(_ bytes: [UInt8]) { inbox += bytes }

  /// The socket is readable: reads once, as the connection does.
  mutating func read() {
    guard !isClosed, machine.wantsInput(&around) else { return }
    if inbox.isEmpty {
      guard clientHasFinished else { return }
      machine.inputEnded()
    } else {
      let count = min(inbox.count, around.configuration.readBufferBytes)
      pending += inbox[..<count]
      inbox.removeFirst(count)
      machine.received(nowMilliseconds: around.nowMilliseconds)
    }
    run()
  }

  /// Reads until nothing comes of it.
  mutating func readAll() {
    var before = -1
    while actionCount != before {
      before = actionCount
      read()
    }
  }

  /// Sends these pieces; each is read before the next is sent, as far as reading is on.
  mutating func feed(_ pieces: [[UInt8]]) {
    for piece in pieces {
      send(piece)
      settleDebts(answering: answersAtOnce)
    }
  }

  /// The client takes this many bytes more.
  mutating func take(_ count: Int) {
    window = count
    guard !isClosed, !machine.output.isEmpty else { return }
    machine.canWrite()
    run()
  }

  // MARK: The application

  func response(to call: Call) -> Response {
    let body =
      call.streamsBody
      ? streams.last { $0.exchange == call.exchange }?.taken ?? [] : call.request.body
    let trailers = call.request.trailers.map { " +\($0.name)=\($0.value)" }.joined()
    let text = String(decoding: body, as: UTF8.self)
    return Response(.ok, text: "\(call.request.method) \(call.request.path) \(text)\(trailers)")
  }

  /// Answers one of the calls.
  mutating func answer(_ index: Int) {
    guard !calls[index].isAnswered else { return }
    calls[index].isAnswered = true
    machine.answered(calls[index].exchange, response(to: calls[index]))
    run()
  }

  /// Takes all that waits of the newest stream, and makes room where there was none.
  mutating func takeBody() {
    guard let last = streams.indices.last, !streams[last].waiting.isEmpty else { return }
    let wasFull = streams[last].waiting.count >= around.configuration.streamBufferBytes
    streams[last].taken += streams[last].waiting
    streams[last].waiting = []
    if wasFull, streams[last].end == nil {
      machine.streamHasRoom(nowMilliseconds: around.nowMilliseconds)
      run()
    }
  }

  /// Whoever makes an answer as it leaves says that there is more.
  mutating func wakeStream() {
    guard !isClosed else { return }
    machine.streamWoken()
    run()
  }

  /// Whoever was asked for a piece brings it.
  mutating func bringPiece() {
    guard !isClosed, let piece = asked else { return }
    asked = nil
    machine.pieceCame(piece.range.map { UInt8(truncatingIfNeeded: $0) }, &around)
    run()
  }

  // MARK: The loop

  mutating func gatheringEnds() {
    guard owesGathering else { return }
    owesGathering = false
    machine.gatheringEnded()
    run()
  }

  mutating func turnComes() {
    guard owesTurn else { return }
    owesTurn = false
    machine.turnCame()
    run()
  }

  /// Time passes; the loop tells the machine where its deadline lies before that.
  mutating func pass(milliseconds: UInt64) {
    around.nowMilliseconds += milliseconds
    guard !isClosed, let wait = lastWait, wait.deadlineMilliseconds <= around.nowMilliseconds else {
      return
    }
    machine.deadlinePassed(unacknowledgedBytes: 0, &around)
    run()
  }

  /// Everybody does what is owed, until nothing is.
  mutating func settleDebts(answering: Bool = true) {
    for _ in 0..<100_000 {
      let before = actionCount
      gatheringEnds()
      turnComes()
      if window > 0, !machine.output.isEmpty { take(window) }
      takeBody()
      bringPiece()
      if answering {
        for index in calls.indices where mayAnswer(calls[index]) { answer(index) }
      }
      read()
      if actionCount == before { return }
    }
    fatalError("does not come to an end")
  }

  /// A body that is taken as it comes is taken to its end first.
  private func mayAnswer(_ call: Call) -> Bool {
    guard call.streamsBody, call.request.path != "/early" else { return true }
    return streams.last { $0.exchange == call.exchange }?.end != nil
  }

  // MARK: The actions

  mutating func run() {
    guard !isClosed else { return }
    let bytes = pending
    var position = 0
    defer { pending = isClosed ? [] : Array(bytes[position...]) }
    while true {
      actionCount += 1
      let action = machine.next(bytes.span, &position, &around)
      if perform(action) { break }
    }
    ConnectionInvariant.check(self, unconsumed: bytes[position...])
  }

  /// Does what is to be done; says whether that was all for now.
  private mutating func perform(_ action: ConnectionAction) -> Bool {
    switch action {
    case .askBodyPolicy:
      machine.decide(machine.request.map(Self.policy) ?? .discard)
    case .handle(let exchange, _, let streamsBody):
      guard let request = machine.takeRequest() else { fatalError("no request to handle") }
      calls.append(Call(request: request, exchange: exchange, streamsBody: streamsBody))
      if streamsBody { streams.append(Stream(exchange: exchange)) }
      if request.path == "/early" || (answersAtOnce && !streamsBody) {
        calls[calls.count - 1].isAnswered = true
        machine.answered(exchange, response(to: calls[calls.count - 1]))
      }
    case .deliver(let body):
      streams[streams.count - 1].waiting += body
      machine.delivered(
        isFull: streams[streams.count - 1].waiting.count
          >= around.configuration.streamBufferBytes)
    case .endStream(let end):
      streams[streams.count - 1].waiting += end.rest
      streams[streams.count - 1].end = end
    case .explain(let error, let exchange, _):
      errors.append(error)
      machine.explained(exchange, Response(error.status, text: "\(error)"))
    case .askStream(let stream, let isIdle):
      streamAsks.append(isIdle)
      if let bytes = stream.next(isIdle: isIdle) {
        machine.streamed(bytes, &around)
      } else {
        machine.streamEnded()
      }
    case .askPiece(let source, let range):
      precondition(asked == nil, "asked for two pieces at once")
      asked = (source, range)
    case .write: write()
    case .finishSending: hasFinishedSending = true
    case .yield: owesTurn = true
    case .gather:
      owesGathering = true
      return true
    case .wait(let wait):
      lastWait = wait
      return true
    case .close(let isCutOff):
      closing = (isCutOff, true)
      return true
    }
    return false
  }

  private mutating func write() {
    guard window > 0, case .bytes(let bytes) = machine.output.parts[0] else {
      return machine.writeBlocked()
    }
    let taken = bytes[machine.output.offset...].prefix(window)
    written += taken
    if window < .max { window -= taken.count }
    machine.wrote(taken.count, &around)
    while machine.takeDeparted(nowNanoseconds: around.nowNanoseconds) != nil {}
  }

  static func policy(_ request: Request) -> BodyPolicy {
    switch request.path {
    case "/stream", "/early": .stream(maximumBytes: 1000)
    case "/discard": .discard
    default: .collect(maximumBytes: 1000)
    }
  }
}
