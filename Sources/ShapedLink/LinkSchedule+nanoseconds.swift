import LinkModel

/// The model's times in nanoseconds, which a link of this machine counts in.
extension LinkConditions {
  var latencyNanoseconds: UInt64 { UInt64(latencyMicroseconds) * 1_000 }
  var resendNanoseconds: UInt64 { UInt64(resendMicroseconds) * 1_000 }

  func rateKbps(_ way: LinkWay) -> Int { way == .down ? downlinkKbps : uplinkKbps }
}

extension LinkSchedule {
  /// What the link is like then, and until when; nil for always.
  func conditions(
    atNanoseconds time: UInt64
  ) -> (conditions: LinkConditions, untilNanoseconds: UInt64?) {
    guard let loop = loopMicroseconds else { return (conditions[0], nil) }
    let inLoop = time % (UInt64(loop) * 1_000)
    let index = index(atMicroseconds: Int(inLoop / 1_000))
    return (conditions[index], time - inLoop + UInt64(endsMicroseconds[index]) * 1_000)
  }
}

/// A direction of a link.
public enum LinkWay: Hashable, Sendable, CaseIterable {
  /// From the client to the server.
  case up
  /// From the server to the client.
  case down
}
