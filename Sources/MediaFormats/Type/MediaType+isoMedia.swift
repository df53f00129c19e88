extension MediaType {
  /// The ISO base media family, by the brands of its first box (ISO/IEC 14496-12 section 4.3): the
  /// major brand where it says enough, or else the first of the compatible ones that does.
  static func isoMedia(_ head: MediaHead, _ name: MediaName) -> MediaType? {
    guard head.holds("ftyp", at: 4), let size = head.number(at: 0, width: 4),
      size >= 16, size % 4 == 0, let major = head.code(at: 8)
    else { return nil }
    // Behind the major brand is its version, then the compatible ones.
    let end = min(Int(size), head.count)
    let brands = [major] + stride(from: 16, to: end, by: 4).compactMap(head.code(at:))
    for brand in brands {
      if let type = type(ofBrand: brand, name) { return type }
    }
    return generalImage(brands)
  }

  /// The type that a brand stands for by itself (the register of brands at mp4ra.org).
  private static func type(ofBrand brand: String, _ name: MediaName) -> MediaType? {
    switch brand {
    case "avif", "avis": .passive("image/avif")
    case "heic", "heix", "heim", "heis": .passive("image/heic")
    case "hevc", "hevx", "hevm", "hevs": .passive("image/heic-sequence")
    case "M4A ", "M4B ", "M4P ", "F4A ", "F4B ": .passive("audio/mp4")
    case "M4V ", "M4VH", "M4VP", "F4V ", "F4P ": .passive("video/mp4")
    // General ones: they do not say whether there is a picture.
    case "isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "isoa", "isob",
      "isoc", "mp41", "mp42", "mp71", "avc1", "mmp4", "MSNV", "dash", "msdh", "msix", "cmfc",
      "cmf2", "cmff", "cmfs":
      .passive(name.ends(in: "m4a", "m4b") ? "audio/mp4" : "video/mp4")
    case "qt  ": .passive("video/quicktime")
    case "3g2a", "3g2b", "3g2c": .passive("video/3gpp2")
    case _ where ["3gp", "3gr", "3gs", "3ge", "3gg"].contains(brand.prefix(3)):
      .passive("video/3gpp")
    default: nil
    }
  }

  /// An image of the HEIF family whose coding none of its brands names (ISO/IEC 23008-12).
  private static func generalImage(_ brands: [String]) -> MediaType? {
    if brands.contains("mif1") { return .passive("image/heif") }
    return brands.contains("msf1") ? .passive("image/heif-sequence") : nil
  }
}
