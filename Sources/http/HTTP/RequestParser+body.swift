extension RequestParser {
  /// Reads a body of known length (RFC 9112 section 6.2).
  mutating func fixedBody(
    _ bytes: Span<UInt8>, _ position: inout Int, _ remaining: Int
  ) -> Event? {
    guard bodyBytes + remaining <= bodyLimitBytes else {
      return fail(.bodyTooLarge(limitBytes: bodyLimitBytes))
    }
    return data(bytes, &position, remaining) { rest in
      rest == 0 ? .finished : .fixedBody(remaining: rest)
    }
  }

  /// Reads `chunk-size [ chunk-ext ] CRLF` (RFC 9112 section 7.1).
  mutating func chunkSize(_ bytes: Span<UInt8>, _ position: inout Int) -> Event? {
    switch line(bytes, position) {
    case .partial(let length):
      if length > limits.chunkLineBytes + 1 { return chunkLineTooLong() }
      return .needMoreBytes
    case .bareLineFeed(let length):
      return length > limits.chunkLineBytes + 1 ? chunkLineTooLong() : fail(.bareLineFeed)
    case .complete(let range):
      if range.count > limits.chunkLineBytes { return chunkLineTooLong() }
      var index = range.lowerBound
      var size = 0
      // 15 digits keep the number below 2^60; more leading zeros are not needed.
      while index < range.upperBound, let digit = bytes[index].hexadecimalValue {
        guard index - range.lowerBound < 15 else { return fail(.malformedChunkSize) }
        size = size << 4 | Int(digit)
        index += 1
      }
      guard index > range.lowerBound else { return fail(.malformedChunkSize) }
      if index < range.upperBound {
        extensionBytes += range.upperBound - index
        guard extensionBytes <= limits.chunkExtensionBytes,
          ChunkExtensions.isWellFormed(bytes, index..<range.upperBound)
        else { return fail(.malformedChunkExtension) }
      }
      guard bodyBytes + size <= bodyLimitBytes else {
        return fail(.bodyTooLarge(limitBytes: bodyLimitBytes))
      }
      consumeLines(&position)
      phase = size == 0 ? .trailers : .chunkData(remaining: size)
      return nil
    }
  }

  private mutating func chunkLineTooLong() -> Event {
    fail(.chunkLineTooLong(limitBytes: limits.chunkLineBytes))
  }

  mutating func chunkData(
    _ bytes: Span<UInt8>, _ position: inout Int, _ remaining: Int
  ) -> Event? {
    data(bytes, &position, remaining) { rest in
      rest == 0 ? .chunkEnd : .chunkData(remaining: rest)
    }
  }

  /// Reads the CRLF after a chunk's data.
  mutating func chunkEnd(_ bytes: Span<UInt8>, _ position: inout Int) -> Event? {
    guard position < bytes.count else { return .needMoreBytes }
    guard bytes[position] == .carriageReturn else { return fail(.chunkNotEnded) }
    guard position + 1 < bytes.count else { return .needMoreBytes }
    guard bytes[position + 1] == .lineFeed else { return fail(.chunkNotEnded) }
    position += 2
    phase = .chunkSize
    return nil
  }

  /// Reads the trailer section (RFC 9112 section 7.1.2): checked like header fields, and kept apart from
  /// them.
  mutating func trailerLines(_ bytes: Span<UInt8>, _ position: inout Int) -> Event? {
    while true {
      switch line(bytes, position) {
      case .partial:
        if bytes.count - position > limits.trailerBlockBytes + 3 { return trailersTooLarge() }
        return .needMoreBytes
      case .bareLineFeed(let length):
        let isTooLarge = lineStart + length > limits.trailerBlockBytes + 3
        return isTooLarge ? trailersTooLarge() : fail(.bareLineFeed)
      case .complete(let range) where range.isEmpty:
        head.bytes = bytes.copy(position..<(position + lineStart - 2))
        consumeLines(&position)
        phase = .finished
        return nil
      case .complete(let range):
        if range.upperBound - position > limits.trailerBlockBytes { return trailersTooLarge() }
        guard head.entries.count < limits.trailerFields else {
          return fail(.tooManyFields(limit: limits.trailerFields))
        }
        do throws(ProtocolError) {
          let field = try parseField(bytes, range)
          try refuseForbidden(bytes, field.name)
          head.entries.append(field.entry(from: position))
        } catch {
          return fail(error)
        }
      }
    }
  }

  private mutating func trailersTooLarge() -> Event {
    fail(.headerBlockTooLarge(limitBytes: limits.trailerBlockBytes))
  }

  /// Refuses fields for framing and routing, which cannot come at the end of a message (RFC 9110 section
  /// 6.5.1).
  private func refuseForbidden(
    _ bytes: Span<UInt8>, _ name: Range<Int>
  ) throws(ProtocolError) {
    if bytes.equalsIgnoringCase(name, "content-length")
      || bytes.equalsIgnoringCase(name, "transfer-encoding")
      || bytes.equalsIgnoringCase(name, "host")
    {
      throw .forbiddenTrailer(bytes.text(name))
    }
  }

  private mutating func data(
    _ bytes: Span<UInt8>, _ position: inout Int, _ remaining: Int, _ following: (Int) -> Phase
  ) -> Event? {
    let available = min(remaining, bytes.count - position)
    guard available > 0 else { return .needMoreBytes }
    let range = position..<(position + available)
    position += available
    bodyBytes += available
    phase = following(remaining - available)
    return .body(range)
  }
}
