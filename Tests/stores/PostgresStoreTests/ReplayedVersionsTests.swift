import Catalog
import Testing

@testable import PostgresStore

@Suite struct ReplayedVersionsTests {
  private static let history = ServerHistory(database: "1/5", table: 7, timeline: 1)
  private let start = ContinuousClock.now

  private func position(_ place: Int64, _ history: ServerHistory = history) -> ServerPosition {
    ServerPosition(history, at: place, isStandby: true)
  }

  private func version(_ number: UInt64) -> StoreVersion { StoreVersion(number: number) }

  /// Version n with the primary at 100 n, n seconds after the start.
  private func versions(_ numbers: ClosedRange<UInt64>) -> ReplayedVersions {
    var versions = ReplayedVersions()
    for number in numbers {
      versions.note(primary: position(Int64(number) * 100))
      versions.note(version(number), at: start + .seconds(Int64(number)))
      // Who asks again learns nothing new.
      versions.note(version(number), at: start + .seconds(1_000_000))
    }
    return versions
  }

  @Test(
    arguments: [
      (Int64(0), nil), (99, nil), (100, 1), (101, 1), (199, 1), (200, 2), (299, 2), (300, 3),
      (Int64.max, 3),
    ] as [(Int64, UInt64?)])
  func `a server has the versions up to its place`(_ place: Int64, _ number: UInt64?) {
    #expect(versions(1...3).version(at: position(place)) == number.map(version))
  }

  @Test func `nothing is known before anything was read, nor of what is not published`() {
    var versions = ReplayedVersions()
    versions.note(version(1), at: start)
    #expect(versions.version(at: position(.max)) == nil)
    versions.note(primary: position(100))
    versions.note(.start, at: start)
    #expect(versions.version(at: position(.max)) == nil)
    #expect(versions.lag(at: position(0), start) == (100, .zero))
  }

  @Test func `a lag lasts since what is lacking first was known`() {
    let versions = versions(1...3)
    let now = start + .seconds(10)
    let cases: [(place: Int64, bytes: Int64, seconds: Int64)] = [
      (0, 300, 9), (100, 200, 8), (250, 50, 7), (299, 1, 7), (300, 0, 0), (.max, 0, 0),
    ]
    for (place, bytes, seconds) in cases {
      #expect(versions.lag(at: position(place), now) == (bytes, .seconds(seconds)), "\(place)")
    }
  }

  @Test func `a version that was published later is not taken for an earlier place`() {
    var versions = versions(1...1)
    // Read and read again before the first of the two is published.
    versions.note(primary: position(200))
    versions.note(primary: position(300))
    versions.note(version(2), at: start)
    #expect(versions.version(at: position(299)) == version(1))
    #expect(versions.version(at: position(300)) == version(2))
  }

  @Test(arguments: [
    ServerHistory(database: "1/5", table: 7, timeline: 2),
    ServerHistory(database: "2/5", table: 7, timeline: 1),
    ServerHistory(database: "1/5", table: 8, timeline: 1),
    ServerHistory(database: "1/5", table: nil, timeline: 1),
  ])
  func `places of another history mean nothing`(_ other: ServerHistory) {
    var versions = versions(1...3)
    #expect(versions.version(at: position(300, other)) == nil)
    // The primary itself is on that line now: what is known of the old one goes.
    versions.note(primary: position(250, other))
    versions.note(version(4), at: start)
    #expect(versions.version(at: position(.max)) == nil)
    #expect(versions.version(at: position(249, other)) == nil)
    #expect(versions.version(at: position(250, other)) == version(4))
  }

  @Test func `a primary that is back at an earlier place is another one`() {
    var versions = versions(1...3)
    versions.note(primary: position(150))
    #expect(versions.version(at: position(.max)) == nil)
    versions.note(version(4), at: start)
    #expect(versions.version(at: position(150)) == version(4))
  }

  @Test func `a standby stays on the timeline that it once followed, and no other server with it`()
  {
    var timelines = FollowedTimelines()
    func timeline(_ timeline: Int64, of server: String, isStandby: Bool = true) -> Int64 {
      let history = ServerHistory(database: "1/5", table: 7, timeline: timeline)
      let position = ServerPosition(history, at: 1, isStandby: isStandby, server: server)
      return timelines.known(position).history.timeline
    }
    #expect(timeline(1, of: "b") == 1)
    #expect(timeline(2, of: "b") == 2)
    // Its primary is gone, and what it wrote on its disk is older.
    #expect(timeline(1, of: "b") == 2)
    #expect(timeline(1, of: "c") == 1)
    #expect(timeline(1, of: "b", isStandby: false) == 1)
    for number in 0..<1_000 { #expect(timeline(1, of: "server \(number)") == 1) }
    #expect(timeline(3, of: "b") == 3)
  }

  @Test func `what is kept is bounded, and the newest stays`() {
    let versions = versions(1...100_000)
    #expect(versions.version(at: position(9_999_999)) == version(99_999))
    #expect(versions.version(at: position(9_600_000)) == version(96_000))
    #expect(versions.version(at: position(100)) == nil)
  }
}
