import CExpat

/// What is told of an XML document while it is read.
protocol XMLParserDelegate: AnyObject {
  /// An element begins.
  func begin(_ name: XMLName, _ attributes: [XMLName: String], line: Int)
  /// It ends.
  func end()
  /// Text in it, in as many pieces as it comes.
  func text(_ bytes: UnsafeBufferPointer<UInt8>)
}

/// Reads XML as it comes, with Expat.
///
/// Nothing but the bytes is ever read: no file, no URL. A document that declares an entity is refused, so
/// that nothing in it can grow or name a file. Not `Sendable`: one thread at a time feeds it.
final class XMLParser {
  weak var delegate: (any XMLParserDelegate)?
  private let parser: XML_Parser
  private let tokenLimitBytes: Int
  private var fedBytes = 0
  /// What the delegate or a rule of ours found wrong, in place of Expat's word for being stopped.
  private var refusal: String?

  /// Between a namespace and a name: no name holds it, so that the last one is the one.
  private static let separator = UInt8(ascii: "\n")

  /// A parser at the beginning of a document; a tag or a comment may have this many bytes.
  init?(tokenLimitBytes: Int) {
    guard let parser = XML_ParserCreateNS(nil, XML_Char(Self.separator)) else { return nil }
    self.parser = parser
    self.tokenLimitBytes = tokenLimitBytes
    // Expat calls back with it within `parse` alone, for as long as this object is there.
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

  /// Takes the next bytes.
  ///
  /// - Returns: what is wrong with the document, once that is seen; then it takes no more.
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
    // What Expat waits to see the end of.
    let pending = fedBytes - Int(XML_GetCurrentByteIndex(parser))
    return pending > tokenLimitBytes + bytes.count
      ? (line, "a tag or comment has more than \(tokenLimitBytes) bytes") : nil
  }

  /// What comes is UTF-8, whatever the document says of itself. Before the first bytes.
  func readAsUTF8() { XML_SetEncoding(parser, "UTF-8") }

  /// The line that was read last.
  var currentLine: Int { line }

  /// Ends reading, for this reason.
  func stop(_ problem: String) {
    refusal = refusal ?? problem
    XML_StopParser(parser, 0)
  }

  private var line: Int { Int(XML_GetCurrentLineNumber(parser)) }

  /// An entity that a document type elsewhere may declare: HTML's, which feeds use, are known.
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
    // Names and values by turns, up to a null (expat.h).
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
