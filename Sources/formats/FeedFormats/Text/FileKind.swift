import Feed

/// The kind of a file, as other formats declare it.
enum FileKind {
  case image, video, sound, other

  /// Determines the kind by the MIME type; if that is unknown, by the document's `medium`, and then by the
  /// ending of the URL's path.
  init(mimeType: String?, medium: String? = nil, url: String) {
    switch mimeType.map({ $0.prefix { $0 != "/" } })?.lowercased() {
    case "image": self = .image
    case "video": self = .video
    case "audio": self = .sound
    default:
      switch medium {
      case "image": self = .image
      case "video": self = .video
      case "audio": self = .sound
      default: self = Self.byEnding[Self.ending(of: url)] ?? .other
      }
    }
  }

  /// The kind as records name it; nil if records do not support such files.
  var media: MediaKind? {
    switch self {
    case .image: .image
    case .video: .video
    case .sound: .audio
    case .other: nil
    }
  }

  private static let byEnding: [String: FileKind] = {
    let endings: [(FileKind, String)] = [
      (.image, "jpg jpeg png gif webp avif heic jxl bmp tiff svg"),
      (.video, "mp4 m4v mov webm mkv ogv m3u8 mpd"), (.sound, "mp3 m4a aac ogg oga opus flac wav"),
    ]
    var kinds: [String: FileKind] = [:]
    for (kind, list) in endings {
      for ending in list.split(separator: " ") { kinds[String(ending)] = kind }
    }
    return kinds
  }()

  /// The usual MIME type of a URL with this ending, if it is of this kind.
  static func mimeType(ofURL url: String, kind: MediaKind) -> String? {
    guard let type = mimeTypes[ending(of: url)], type.hasPrefix(kind.rawValue) else { return nil }
    return type
  }

  private static let mimeTypes = [
    "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif",
    "webp": "image/webp", "avif": "image/avif", "heic": "image/heic", "jxl": "image/jxl",
    "bmp": "image/bmp", "tiff": "image/tiff", "svg": "image/svg+xml", "mp4": "video/mp4",
    "m4v": "video/mp4", "mov": "video/quicktime", "webm": "video/webm", "mkv": "video/matroska",
    "ogv": "video/ogg", "mp3": "audio/mpeg", "m4a": "audio/mp4", "aac": "audio/aac",
    "ogg": "audio/ogg", "oga": "audio/ogg", "opus": "audio/ogg", "flac": "audio/flac",
    "wav": "audio/wav",
  ]

  /// The ending in lower case: `jpg` of `https://host/picture.JPG?size=2`.
  private static func ending(of url: String) -> String {
    let path = url.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    guard let dot = path.lastIndex(of: UInt8(ascii: ".")),
      path.distance(from: dot, to: path.endIndex) <= 6
    else { return "" }
    return String(decoding: path[path.index(after: dot)...].map(\.lowercased), as: UTF8.self)
  }
}

extension PostType {
  /// The type of a post with these files.
  init(of media: [Media]) {
    switch media.count {
    case 0: self = .text
    case 1:
      switch media[0].kind {
      case .image: self = .image
      case .video: self = .video
      case .audio: self = .audio
      }
    default: self = .carousel
    }
  }
}

extension Int {
  /// The number rounded; nil if it is nil, not a number, or does not fit an `Int`.
  init?(rounding number: Double?) {
    guard let number, let whole = Int(exactly: number.rounded()) else { return nil }
    self = whole
  }

  /// The number, or nil if it is not above zero: other programs write zero for unknown.
  var ifPositive: Int? { self > 0 ? self : nil }
}
