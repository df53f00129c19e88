extension MediaType {
  /// WebM and Matroska, told apart by the EBML header (RFC 9559 section 27 has the types). Whether
  /// there is a picture is said far behind it, so the name may say that there is none.
  static func matroska(_ head: MediaHead, _ name: MediaName) -> MediaType? {
    switch EBMLHeader(head)?.documentType {
    case "webm": .passive(name.ends(in: "weba") ? "audio/webm" : "video/webm")
    case "matroska": .passive(name.ends(in: "mka") ? "audio/matroska" : "video/matroska")
    default: nil
    }
  }
}
