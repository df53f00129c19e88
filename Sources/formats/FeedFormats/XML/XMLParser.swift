import CExpat

/// Receives the events of an XML document while it is parsed.
protocol XMLParserDelegate: AnyObject {
  /// Called when an element begins.
  func begin(_ name: XMLName, _ attributes: [XMLName: String], line: Int)
  /// Called when an element ends.
  func end()
  /// Called with text in the current element, in any number of pieces.
  func text(_ bytes: UnsafeBufferPointer<UInt8>)
}

/// Parses XML incrementally, with Expat.
///
/// It reads no files and no URLs. It refuses a document that declares an entity, so that no entity can expand
/// or name a file. Not `Sendable`: only one thread at a time may use it.
final class XMLParser {
  weak var delegate: (any XMLParserDelegate)?
  private let parser: XML_Parser
  private let tokenLimitBytes: Int
  private var fedBytes = 0
  /// The error found by the delegate or by a rule of this parser, which replaces Expat's
  /// error for an aborted parse.
  private var refusal: String?

  /// The separator between namespace and name. No name contains it, so the last one in
  /// the text is the separator.
  private static let separator = UInt8(ascii: "\n")

  /// Creates a parser for one document.
  ///
  /// - Parameter tokenLimitBytes: the maximum size of a tag or a comment.
  init?(tokenLimitBytes: Int) {
    guard let parser = XML_ParserCreateNS(nil, XML_Char(Self.separator)) else { return nil }
    self.parser = parser
    self.tokenLimitBytes = tokenLimitBytes
    // Unretained: Expat calls back only within `parse`, during which this object exists.
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetElementHandler(
      parser, { XMLParser.of($0)?.begin($1, $2) },
      { data, _ in XMLParser.of(data)?.delegate?.end() })
    XML_SetCharacterDataHandler(parser) { data, text, count in
      guard let text else { return }
      text.withMemoryRebound(to: UInt8.self, capacity: Int(count)) {
        let bytes = UnsafeBufferPointer(start: $0, count: Int(count))
        XMLParser.of(data)?.delegate?.text(bytes)
      }
    }
    XML_SetEntityDeclHandler(parser) { data, name, _, _, _, _, _, _, _ in
      let entity = name.map { String(cString: $0).prefix(40) } ?? ""
      XMLParser.of(data)?.stop(
        "the document declares the entity \"\(entity)\", which is not supported")
    }
    XML_SetSkippedEntityHandler(parser) { data, name, _ in
      XMLParser.of(data)?.skip(name.map { String(cString: $0) } ?? "")
    }
  }

  deinit { XML_ParserFree(parser) }

  private static func of(_ data: UnsafeMutableRawPointer?) -> XMLParser? {
    data.map { Unmanaged<XMLParser>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Parses the next bytes.
  ///
  /// - Returns: the first error in the document; no more bytes may follow it.
  func parse(_ bytes: ArraySlice<UInt8>, isLast: Bool) -> (line: Int, problem: String)? {
    let status = bytes.withUnsafeBufferPointer { buffer in
      buffer.withMemoryRebound(to: CChar.self) {
        XML_Parse(parser, $0.baseAddress, Int32($0.count), isLast ? 1 : 0)
      }
    }
    fedBytes += bytes.count
    guard status == XML_STATUS_OK else {
      let word = XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "unknown"
      let column = Int(XML_GetCurrentColumnNumber(parser)) + 1
      return (line, refusal ?? "is not well-formed XML: \(word), at column \(column)")
    }
    // The size of the token whose end Expat has not seen.
    let pending = fedBytes - Int(XML_GetCurrentByteIndex(parser))
    return pending > tokenLimitBytes + bytes.count
      ? (line, "a tag or comment has more than \(tokenLimitBytes) bytes") : nil
  }

  /// Reads the input as UTF-8, whatever encoding the document declares. To be called before the first bytes.
  func readAsUTF8() { XML_SetEncoding(parser, "UTF-8") }

  /// The line that was parsed last.
  var currentLine: Int { line }

  /// Stops parsing with this error.
  func stop(_ problem: String) {
    refusal = refusal ?? problem
    XML_StopParser(parser, 0)
  }

  private var line: Int { Int(XML_GetCurrentLineNumber(parser)) }

  /// Handles an entity that an external document type may declare: HTML's are known, because feeds use them.
  private func skip(_ name: String) {
    guard var text = HTMLEntity.text(name) else {
      stop("the entity \"\(name.prefix(40))\" is not known")
      return
    }
    text.withUTF8 { delegate?.text($0) }
  }

  private func begin(
    _ name: UnsafePointer<XML_Char>?, _ list: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
  ) {
    guard let name else { return }
    var attributes: [XMLName: String] = [:]
    var index = 0
    // Names and values alternate, up to a null pointer (expat.h).
    while let list, let name = list[index], let value = list[index + 1] {
      attributes[Self.name(name)] = String(cString: value)
      index += 2
    }
    delegate?.begin(Self.name(name), attributes, line: line)
  }

  private static func name(_ text: UnsafePointer<XML_Char>) -> XMLName {
    let parts = String(cString: text)
    guard let end = parts.utf8.lastIndex(of: separator) else {
      return XMLName(namespace: .none, local: parts)
    }
    return XMLName(
      namespace: XMLNamespace(uri: String(parts[..<end])),
      local: String(parts[parts.utf8.index(after: end)...]))
  }
}
