import MediaFormats
import System

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
