/// A player of a file that comes in from its first byte on: it starts when it may, and stalls when something
/// that is to be shown now is not there.
///
/// What has to be there when is taken from ffprobe's list of packets and nothing of ours: to show a packet,
/// it has to be there, and all that is decoded before it in its stream.
package struct PlayerModel {
  /// From a time of playback on, this many first bytes have to be there.
  package struct Demand {
    package let seconds: Double
    package let bytes: Int64
  }

  /// In the order of their times; bytes never fall.
  package let demands: [Demand]

  /// - Parameter originSeconds: the time of the file at which playback begins.
  package init(_ packets: [FFmpeg.Packet], originSeconds: Double) {
    var reached: [Int: Int64] = [:]
    var all: [Demand] = []
    for packet in packets {
      let end = max(reached[packet.stream] ?? 0, packet.end)
      reached[packet.stream] = end
      if packet.isDiscarded { continue }
      all.append(Demand(seconds: max(0, packet.seconds - originSeconds), bytes: end))
    }
    all.sort { $0.seconds < $1.seconds }
    var bytes: Int64 = 0
    demands = all.map { demand in
      bytes = max(bytes, demand.bytes)
      return Demand(seconds: demand.seconds, bytes: bytes)
    }
  }

  /// The first demand that is not met, if this many bytes are there this many seconds after playback began; nil
  /// where it never stalls.
  package func stall(_ bytesThere: (Double) -> Double) -> Demand? {
    demands.first { bytesThere($0.seconds) < Double($0.bytes) }
  }

  /// The demand that is the hardest to meet at a bandwidth: the one for which most has to be there at the
  /// start.
  package func hardest(kilobitsPerSecond: Int64) -> Demand? {
    demands.max {
      Double($0.bytes) - $0.seconds * Double(kilobitsPerSecond) * 125
        < Double($1.bytes) - $1.seconds * Double(kilobitsPerSecond) * 125
    }
  }
}
