import HTTP

/// What must hold of queries, paths and percent-encoding, whatever text they get.
enum QueryProperties {
  /// What does not hold, as a sentence.
  static func fault(in input: [UInt8]) -> String? {
    let text = String(decoding: input, as: UTF8.self)
    return queryFault(text) ?? pathFault(text) ?? textFault(text) ?? bytesFault(input)
  }

  private static func queryFault(_ text: String) -> String? {
    let parameters: [Query.Parameter]
    do throws(Query.Malformed) {
      parameters = try Query.parse(text)
    } catch {
      return offsetFault(error.cause, text.utf8.count)
    }
    let written = parameters.map {
      encode($0.name, .queryValue) + "=" + encode($0.value, .queryValue)
    }.joined(separator: "&")
    guard let read = try? Query.parse(written) else { return "\(written) is refused as a query" }
    let isEqual = read.elementsEqual(parameters) {
      isSame($0.name, $1.name) && isSame($0.value, $1.value)
    }
    return isEqual ? nil : "\(parameters), written anew, reads as \(read)"
  }

  private static func pathFault(_ text: String) -> String? {
    let segments: [String]
    do throws(PercentEncodingError) {
      segments = try PathSegments.split("/" + text)
    } catch {
      return offsetFault(error, text.utf8.count + 1)
    }
    let written = segments.map { "/" + encode($0, .pathSegment) }.joined()
    guard let read = try? PathSegments.split(written) else { return "\(written) is no path" }
    return read.elementsEqual(segments, by: isSame)
      ? nil : "\(segments), written anew, reads as \(read)"
  }

  /// Any text can be encoded, and is itself again; but for NUL, which nothing lets through.
  private static func textFault(_ text: String) -> String? {
    for place in [PercentEncoding.Place.pathSegment, .queryValue] {
      let written = encode(text, place)
      guard written.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }) else {
        return "\(text) is encoded as \(written)"
      }
      let read = try? PercentEncoding.decode(written)
      if text.utf8.contains(0) ? read != nil : !isSame(read ?? "refused", text) {
        return "\(text), encoded as \(written), is decoded as \(read ?? "nothing")"
      }
    }
    return nil
  }

  private static func bytesFault(_ bytes: [UInt8]) -> String? {
    do throws(PercentEncodingError) {
      let text = try PercentEncoding.decode(bytes: bytes)
      if text.utf8.contains(0) { return "a NUL is let through" }
      let isPlain = !bytes.contains(UInt8(ascii: "%"))
      return isPlain && Array(text.utf8) != bytes ? "\(bytes) is changed to \(text)" : nil
    } catch {
      return offsetFault(error, bytes.count)
    }
  }

  private static func offsetFault(_ error: PercentEncodingError, _ count: Int) -> String? {
    (0..<count).contains(error.offset) ? nil : "\(error) is not within \(count) bytes"
  }

  private static func encode(_ text: String, _ place: PercentEncoding.Place) -> String {
    PercentEncoding.encode(text, for: place)
  }

  /// The same bytes: `==` takes canonically equivalent texts for equal.
  private static func isSame(_ left: String, _ right: String) -> Bool {
    left.utf8.elementsEqual(right.utf8)
  }
}
