/// A program that was not there as a file was looked into: once it is, more can be told of the file.
public enum MissingDecoder: String, CaseIterable, Hashable, Sendable {
  /// Decodes everything but HEIC and transparency of the HEIF family (FFmpeg).
  case ffmpeg
  /// Decodes AVIF, HEIC and HEIF whole (libheif).
  case heifConvert = "heif-convert"
}
