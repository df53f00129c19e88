import Feed
import JSON
import MediaFormats
import System

/// Asks ffprobe what it knows of a file: another's word, beside what is read here.
struct FFprobe {
  let path: String
  let settings: ProbeSettings

  /// The packets of some ten hours of film.
  private static let outputBytes = 64 << 20

  /// Nil where ffprobe is not installed.
  init?(_ tools: MediaTools, _ settings: ProbeSettings) {
    guard let path = tools.ffprobe else { return nil }
    self.path = path
    self.settings = settings
  }

  /// What it says of streams, and where it is asked to of packets.
  func ask(
    _ file: OpenFile, _ demuxer: Demuxer, forPackets: Bool
  ) throws(ProbeError) -> FFprobeAnswer {
    let entries =
      "format=duration:stream=index,codec_type,codec_name,width,height,sample_aspect_ratio"
      + ":stream_disposition=attached_pic:stream_side_data=rotation"
      + (forPackets ? ":packet=stream_index,pts_time,pos,size" : "")
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
    return try FFprobeAnswer(outcome.output, fileBytes: file.size)
  }

  /// What it says of a file whose structure is not read here, nil where that is not FFmpeg's to read either.
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
    let answer = try ask(file, demuxer, forPackets: false)
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

extension FFprobe {
  /// Lengths differ by what the last frame takes, which ffprobe guesses where it is not written down.
  private static let durationToleranceMilliseconds = 100

  /// Where ffprobe says otherwise than the structure as it was read here. What it does not know it says nothing
  /// of; that it is right is not said.
  func disagreements(
    of file: OpenFile, with structure: MediaStructure
  ) throws(ProbeError) -> [ProbeNote] {
    guard let demuxer = Demuxer(structure.type, isAnimated: structure.kind == .animation) else {
      return []
    }
    let plays = structure.kind == .video || structure.kind == .sound
    let answer: FFprobeAnswer
    do throws(ProbeError) {
      answer = try ask(file, demuxer, forPackets: plays)
    } catch {
      // That its first frame decodes is known by now, or that FFmpeg knows nothing of such files.
      guard case .undecodable(let words) = error else { throw error }
      return [.unreadByFFprobe(words)]
    }
    var notes: [ProbeNote] = []
    func compare(_ what: String, _ ours: String?, _ theirs: String?) {
      guard let ours, let theirs, ours != theirs else { return }
      notes.append(.disagreement(what: what, ours: ours, ffprobe: theirs))
    }
    func text(_ size: PixelSize?) -> String? { size.map { "\($0.width) × \($0.height)" } }
    if structure.kind != .sound {
      compare("coded size", text(structure.codedSize), text(answer.picture?.codedSize))
      compare("picture's codec", structure.videoCodec, answer.picture?.codec)
    }
    guard plays else { return notes }
    compare("sound's codec", structure.audioCodec ?? "none", answer.sound?.codec ?? "none")
    if let ours = structure.durationMilliseconds, let theirs = answer.durationMilliseconds,
      abs(Int(ours) - theirs) > Self.durationToleranceMilliseconds
    {
      compare("duration", "\(ours) ms", "\(theirs) ms")
    }
    notes += Self.early(structure, answer)
    return notes
  }

  /// Points of the curve at which packets are not there yet that are shown before then. More than the packets take
  /// is no disagreement: ffprobe leaves out what is around them.
  private static func early(_ structure: MediaStructure, _ answer: FFprobeAnswer) -> [ProbeNote] {
    let streams = [answer.picture, answer.sound].compactMap { $0?.index }
    let packets = answer.packets.compactMap { packet -> (milliseconds: Int, end: Int)? in
      guard streams.contains(packet.stream), let milliseconds = packet.milliseconds,
        let end = packet.end
      else { return nil }
      return (milliseconds, end)
    }
    guard let first = packets.map(\.milliseconds).min() else { return [] }
    // What begins before 0 is cut away by the edit list, or all of it is later.
    let beginning = max(0, first)
    return structure.start.curve.compactMap { point in
      let needed =
        packets.lazy
        .filter { $0.milliseconds - beginning < Int(point.milliseconds) }.map(\.end).max() ?? 0
      guard needed > Int(point.bytes) else { return nil }
      return .disagreement(
        what: "curve at \(point.milliseconds) ms", ours: "\(point.bytes) bytes",
        ffprobe: "\(needed) bytes")
    }
  }
}
