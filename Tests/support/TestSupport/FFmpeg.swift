import Foundation

/// FFmpeg as a maker of files and as the decoder whose word counts, where it is installed.
package enum FFmpeg {
  private static let path = [
    "/usr/bin/ffmpeg", "/usr/local/bin/ffmpeg", "/opt/homebrew/bin/ffmpeg",
  ]
  .first(where: FileManager.default.isExecutableFile(atPath:))

  package static var isPresent: Bool { path != nil }

  /// A frame, or a piece of sound, as it was decoded.
  package struct Frame: Hashable {
    package let isPicture: Bool
    package let seconds: Double
    /// Of its pixels or samples.
    package let hash: String
  }

  package struct Failure: Error { package let text: String }

  /// Runs it; it ends itself after a minute of its own work.
  @discardableResult
  package static func run(_ arguments: [String]) throws -> String {
    try run(path!, ["-v", "error", "-nostdin", "-y", "-timelimit", "60"] + arguments)
  }

  private static func run(_ program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
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

  /// A packet of a file, as ffprobe lists them.
  package struct Packet {
    package let stream: Int
    /// When it is shown or sounded.
    package let seconds: Double
    /// It belongs to what an edit list leaves out.
    package let isDiscarded: Bool
    /// Where its bytes end in the file; a container may have a few more of it behind them.
    package let end: Int64
  }

  /// The packets of the first picture and the first sound, in the order in which they are decoded; those
  /// without a time or a place are left out.
  package static func packets(of file: String) throws -> [Packet] {
    var packets: [Packet] = []
    let pages = try pageEnds(ofOgg: file)
    for kind in ["V:0", "a:0"] {
      let text = try run(
        path!.replacing("ffmpeg", with: "ffprobe"),
        [
          "-v", "error", "-select_streams", kind, "-show_entries",
          "packet=stream_index,pts_time,size,pos,flags", "-of", "csv=p=0", file,
        ])
      for line in text.split(separator: "\n") {
        let fields = line.split(separator: ",", omittingEmptySubsequences: false)
        guard fields.count >= 5, let stream = Int(fields[0]), let seconds = Double(fields[1]),
          let size = Int64(fields[2]), let position = Int64(fields[3])
        else { continue }
        packets.append(
          Packet(
            stream: stream, seconds: seconds, isDiscarded: fields[4].contains("D"),
            end: max(position + size, pages[position] ?? 0)))
      }
    }
    return packets
  }

  /// Where the pages of an Ogg file end, by where they begin (RFC 3533 section 6): ffprobe tells of a packet where
  /// its page begins, and a page is read as a whole. Nothing of other files.
  private static func pageEnds(ofOgg file: String) throws -> [Int64: Int64] {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    var ends: [Int64: Int64] = [:]
    var page = 0
    while page + 27 <= bytes.count, bytes[page..<page + 4].elementsEqual("OggS".utf8) {
      let segments = bytes[page + 27..<min(bytes.count, page + 27 + Int(bytes[page + 26]))]
      let end = segments.endIndex + segments.reduce(0) { $0 + Int($1) }
      ends[Int64(page)] = Int64(end)
      page = end
    }
    return ends
  }

  /// All that it decodes of a file. What makes its answer honest about files that are cut off: it throws away
  /// packets that are not there as a whole (`discardcorrupt`), and neither invents frames nor moves them to
  /// another time (`passthrough`, `copyts`, the time base of the file). Of a file with holes it would say
  /// more than the pipe of its errors holds: it says nothing.
  ///
  /// - Parameter decryptionKey: of an encrypted file, in hexadecimal digits.
  package static func frames(of file: String, decryptionKey: String? = nil) -> [Frame] {
    let text =
      (try? run(
        [
          "-v", "quiet", "-fflags", "+discardcorrupt", "-copyts",
        ] + (decryptionKey.map { ["-decryption_key", $0] } ?? []) + [
          "-i", file, "-vsync", "passthrough", "-enc_time_base", "-1", "-map", "0:v:0?", "-map",
          "0:a:0?", "-c:a", "pcm_s16le", "-f",
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
