import HTTP

/// What must hold of a request parser, whatever bytes it gets.
enum ParserProperties {
  /// Limits that a short input can reach.
  private static let narrow = MessageLimits(
    requestLineBytes: 64, headerBlockBytes: 160, headerFields: 5, bodyBytes: 64,
    chunkLineBytes: 20, chunkExtensionBytes: 30, trailerBlockBytes: 48, trailerFields: 2)
  /// A route's own limit of the body.
  private static let routeBodyBytes = 40

  /// What does not hold, as a sentence. Of the input's first byte, the lowest bit chooses limits,
  /// the next a route's limit.
  static func fault(in input: [UInt8]) -> String? {
    let input = FuzzInput(input)
    let limits = input.choice & 1 == 0 ? MessageLimits() : narrow
    let bodyLimitBytes = input.choice & 2 == 0 ? nil : routeBodyBytes
    func transcript(of bytes: [UInt8], _ ends: [Int]) -> ParserTranscript {
      ParserTranscript(of: bytes, ends: ends, limits: limits, bodyLimitBytes: bodyLimitBytes)
    }

    let whole = transcript(of: input.content, [input.content.count])
    if let fault = whole.fault { return fault }
    for ends in input.cuts {
      let other = transcript(of: input.content, ends)
      if other != whole { return "cut at \(ends) \(whole) becomes \(other)" }
    }
    if let fault = boundsFault(whole, limits, bodyLimitBytes) { return fault }
    for request in whole.requests {
      if let fault = rewritingFault(request) { return fault }
    }
    let smuggled = smuggling(input.content, into: whole)
    let other = transcript(of: smuggled, [smuggled.count])
    return other == whole ? nil : "with other bytes in its bodies \(whole) becomes \(other)"
  }

  /// Whether more came through than the limits allow, or a body of another length than announced.
  private static func boundsFault(
    _ transcript: ParserTranscript, _ limits: MessageLimits, _ bodyLimitBytes: Int?
  ) -> String? {
    for (request, message) in zip(transcript.requests, transcript.messages) {
      if request.fields.count > limits.headerFields { return "\(request.fields.count) fields" }
      if request.target.count > limits.requestLineBytes { return "\(request.target) is too long" }
      if message.trailers.count > limits.trailerFields { return "\(message.trailers) are too many" }
      if message.bodyBytes > bodyLimitBytes ?? limits.bodyBytes {
        return "a body of \(message.bodyBytes) bytes passes the limit"
      }
      switch message.framing {
      case .none where message.bodyBytes > 0 || message.end != message.headEnd:
        return "there is a body without a framing: \(message)"
      case .length(let length) where message.bodyBytes > length:
        return "the body is longer than announced: \(message)"
      case .length(let length) where message.end != nil && message.end != message.headEnd + length:
        return "the body does not end where announced: \(message)"
      default: break
      }
    }
    return nil
  }

  /// Whether the head, written anew in the simplest form, reads as another.
  private static func rewritingFault(_ request: Request) -> String? {
    // A host from the target replaces the field; the target itself comes without it.
    var bytes = Array("\(request.method) ".utf8) + request.target
    bytes += Array(" HTTP/1.\(request.minorVersion)\r\n".utf8)
    if !request.host.isEmpty { bytes += Array("Host: \(request.host)\r\n".utf8) }
    // Bytes that are not UTF-8 cannot be read from a field; what replaces them stays.
    for field in request.others { bytes += Array("\(field)\r\n".utf8) }
    bytes += Array("\r\n".utf8)
    let wide = MessageLimits(
      requestLineBytes: 1 << 20, headerBlockBytes: 1 << 20, headerFields: 1000,
      bodyBytes: .max)
    let read = ParserTranscript(of: bytes, ends: [bytes.count], limits: wide)
    guard let first = read.requests.first else {
      return "\(request.summary), written anew, is refused: \(read)"
    }
    let isSame =
      first.method == request.method && first.target == request.target
      && first.path == request.path && first.query == request.query && first.host == request.host
      && first.minorVersion == request.minorVersion && first.framing == request.framing
      && first.keepsAlive == request.keepsAlive && first.expectation == request.expectation
      && first.others == request.others && first.fields.values(of: "Host").count <= 1
    return isSame ? nil : "\(request.summary), written anew, reads as \(first.summary)"
  }

  /// The bytes with requests in the place of each body: nothing may take them for requests.
  private static func smuggling(
    _ bytes: [UInt8], into transcript: ParserTranscript
  ) -> [UInt8] {
    let request = Array("\r\n0\r\n\r\nDELETE /smuggled HTTP/1.1\r\nHost: b\r\n\r\n".utf8)
    var bytes = bytes
    for range in transcript.messages.flatMap(\.body) {
      for index in range { bytes[index] = request[(index - range.lowerBound) % request.count] }
    }
    return bytes
  }
}

extension Request {
  /// The field lines but for `Host`.
  fileprivate var others: [String] {
    fields.filter { $0.name.lowercased() != "host" }.map { "\($0.name): \($0.value)" }
  }
}
