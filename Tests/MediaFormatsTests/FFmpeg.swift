import Foundation

/// FFmpeg as a maker of files and as the decoder whose word counts, where it is installed.
enum FFmpeg {
  private static let path = [
    "/usr/bin/ffmpeg", "/usr/local/bin/ffmpeg", "/opt/homebrew/bin/ffmpeg",
  ]
  .first(where: FileManager.default.isExecutableFile(atPath:))

  static var isPresent: Bool { path != nil }

  /// A frame, or a piece of sound, as it was decoded.
  struct Frame: Hashable {
    let isPicture: Bool
    let seconds: Double
    /// Of its pixels or samples.
    let hash: String
  }

  struct Failure: Error { let text: String }

  /// Runs it; it ends itself after a minute of its own work.
  @discardableResult
  static func run(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path!)
    process.arguments = ["-v", "error", "-nostdin", "-y", "-timelimit", "60"] + arguments
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    // It says little about errors, far less than a pipe holds.
    let said = output.fileHandleForReading.readDataToEndOfFile()
    let complaints = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 || !said.isEmpty else {
      throw Failure(text: String(decoding: complaints, as: UTF8.self))
    }
    return String(decoding: said, as: UTF8.self)
  }

  /// All that it decodes of a file. What makes its answer honest about files that are cut off: it throws away
  /// packets that are not there as a whole (`discardcorrupt`), and neither invents frames nor moves them to
  /// another time (`passthrough`, `copyts`, the time base of the file).
  static func frames(of file: String) -> [Frame] {
    let text =
      (try? run([
        "-fflags", "+discardcorrupt", "-copyts", "-i", file, "-vsync", "passthrough",
        "-enc_time_base", "-1", "-map", "0:v:0?", "-map", "0:a:0?", "-c:a", "pcm_s16le", "-f",
        "framemd5", "-",
      ])) ?? ""
    var pictures: Set<Substring> = []
    var secondsPerTick: [Substring: Double] = [:]
    var frames: [Frame] = []
    for line in text.split(separator: "\n") {
      let fields = line.split { $0 == "," || $0 == " " || $0 == ":" }
      if line.hasPrefix("#tb"), let value = fields.last?.split(separator: "/") {
        secondsPerTick[fields[1]] = Double(value[0])! / Double(value[1])!
      } else if line.hasPrefix("#media_type"), fields[2] == "video" {
        pictures.insert(fields[1])
      } else if !line.hasPrefix("#"), fields.count >= 6 {
        frames.append(
          Frame(
            isPicture: pictures.contains(fields[0]),
            seconds: Double(fields[2])! * (secondsPerTick[fields[0]] ?? 0),
            hash: String(fields[5])))
      }
    }
    return frames
  }
}
