/// The header of an EBML file, as far as the head has it (RFC 8794 section 8.1).
struct EBMLHeader {
  /// What kind of document follows (RFC 8794 section 11.2), for example `webm`.
  let documentType: String

  /// Nil if the head is not that of an EBML file, or does not say what document it is.
  init?(_ head: MediaHead) {
    var fields = FieldReader(head.bytes, at: 0, in: "EBML")
    guard let header = try? EBMLElement(&fields), header.identifier == EBMLElement.header else {
      return nil
    }
    while fields.position < header.end ?? .max, let element = try? EBMLElement(&fields) {
      let bytes = Int(clamping: (element.end ?? .max) - element.contentOffset)
      guard let content = try? fields.bytes(bytes) else { return nil }
      if element.identifier == EBMLElement.documentType {
        // A text may be padded with zeros (RFC 8794 section 7.4).
        documentType = String(decoding: content.prefix { $0 != 0 }, as: UTF8.self)
        return
      }
    }
    return nil
  }
}
