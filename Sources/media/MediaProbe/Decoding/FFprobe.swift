import Feed
import JSON
import MediaFormats
import System

/// Asks ffprobe about a file, in addition to this project's own parsers.
struct FFprobe {
  let path: String
  let settings: ProbeSettings

  /// The maximum length of the output: enough for hundreds of streams.
  private static let outputBytes = 1 << 20

  /// Returns nil if ffprobe is not installed.
  init?(_ tools: MediaTools, _ settings: ProbeSettings) {
    guard let path = tools.ffprobe else { return nil }
    self.path = path
    self.settings = settings
  }

  /// Returns ffprobe's description of a file's streams.
  func ask(_ file: OpenFile, _ demuxer: Demuxer) throws(ProbeError) -> FFprobeAnswer {
    let entries =
      "format=duration:stream=index,codec_type,codec_name,width,height,sample_aspect_ratio"
      + ":stream_disposition=attached_pic:stream_side_data=rotation"
    let outcome: ChildProcess.Outcome
    do throws(SystemError) {
      outcome = try ChildProcess(
        path: path,
        arguments: ["-v", "error", "-show_entries", entries, "-of", "json=compact=1"]
          + demuxer.inputArguments,
        environment: ["LC_ALL=C"],
        limits: .init(
          timeMilliseconds: settings.timeMilliseconds, memoryBytes: settings.memoryBytes,
          outputBytes: Self.outputBytes)
      ).run(input: file, cancellation: settings.cancellation)
    } catch {
      throw .system(error)
    }
    switch outcome.end {
    case .exited(0): break
    case .timedOut: throw .decodingTimedOut(milliseconds: settings.timeMilliseconds)
    case .cancelled: throw .cancelled
    case .wroteTooMuch:
      throw .unbelievable(program: "ffprobe", "more than \(Self.outputBytes) bytes")
    case .exited, .signalled: throw .undecodable(FFmpegWords(outcome.errors).first)
    }
    return try FFprobeAnswer(outcome.output)
  }

  /// Returns ffprobe's description of a file whose structure this project does not support; nil if FFmpeg
  /// does not support it either.
  func report(
    of file: OpenFile, insteadOf error: ProbeError
  ) throws(ProbeError) -> ProbeReport? {
    switch error {
    case .format(let error):
      switch error.reason {
      case .unknownFormat, .unsupported: break
      default: return nil
      }
    default: return nil
    }
    let type: MediaType
    do throws(SystemError) {
      type = MediaType(head: try file.read(at: 0, count: MediaType.headBytes), name: "")
    } catch {
      throw .system(error)
    }
    guard let demuxer = Demuxer(type) else { return nil }
    let answer = try ask(file, demuxer)
    guard let picture = answer.picture ?? answer.sound else { return nil }
    let kind: MediaTruth.Kind =
      answer.picture == nil ? .sound : type.value.hasPrefix("image/") ? .image : .video
    let size = answer.picture?.displaySize
    let truth = MediaTruth(
      kind: kind, bytes: file.size, mimeType: type.value,
      codec: kind == .sound ? nil : picture.codec, soundCodec: answer.sound?.codec,
      hasSound: answer.sound != nil, width: size?.width, height: size?.height,
      durationMilliseconds: kind == .image ? nil : answer.durationMilliseconds)
    return ProbeReport(truth: truth, notes: [.structureFromFFprobe])
  }
}
