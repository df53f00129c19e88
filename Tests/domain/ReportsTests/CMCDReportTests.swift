import Feed
import Reports
import Testing

/// CMCD, version 2, in event mode.
@Suite struct CMCDReportTests {
  private static func parts(_ text: String) throws(RecordError) -> [ReportPart] {
    try CMCDReport.reports(in: Array(text.utf8)).map(\.part)
  }

  @Test func `lines of players are read`() throws {
    let reports = try CMCDReport.reports(
      in: Array(
        """
        e=ps,sid="session-1",sn=0,sta=s,ts=1700000000000,v=2\r
        bl=(5000),br=(5000;v 320;a),cid="clip \\"1\\"",e=t,msd=740,mtp=(25000 1200;a),pr=1.50,sid="session-1",sn=1,sta=p,su,ts=1700000001000,v=2

        bs,bsd=(120;v 80;a),e=ps,nor=("../seg1.mp4";r="0-500" "../seg2.mp4"),sid="session-1",sn=2,sta=r,ts=1700000009000,v=2
        e=rr,rc=200,sid="session-1",sn=3,ts=1700000009500,ttfb=20,ttlb=80,url="https://cdn.example/a,b=c",v=2,x-y=?0
        e=ps,io.lookahead-loaded=5000,io.lookahead-unseen=2000,sid="session-1",sn=4,sta=q,ts=1700000010000,v=2
        """.utf8))
    #expect(reports.map(\.sequenceNumber) == [0, 1, 2, 3, 4])
    #expect(reports[0].time == 1_700_000_000_000)
    let parts = reports.map(\.part)
    #expect(parts.map(\.isFirst) == [true, false, false, false, false])
    #expect(parts[1].downlinkKbps == 25_000)
    var figures = ReportFigures()
    for part in parts { figures.add(part.figures) }
    var expected = ReportFigures()
    expected.items = 1
    expected.loaders[.video] = 1
    expected.waits.add(milliseconds: 740)
    expected.frames.add(milliseconds: 740)
    expected.stalls = 1
    expected.stalledMilliseconds = 120
    expected.requests = 1
    expected.bytes[.seen] = 3_000
    expected.bytes[.neverReached] = 2_000
    #expect(figures == expected)
  }

  @Test func `a start within a decoder's time is no loader`() throws {
    let part = try Self.parts("e=ps,sid=\"a\",sta=p,msd=500,ts=1,v=2")[0]
    #expect(
      part.figures.items == 1 && part.figures.loaders.total == 0 && part.figures.waits.isEmpty)
  }

  @Test func `a player that does not count its reports begins a session with its first start`()
    throws
  {
    let parts = try Self.parts("e=ps,sid=\"a\",sta=s,ts=1\ne=ps,sid=\"a\",sta=p,ts=2")
    #expect(parts.map(\.isFirst) == [true, false])
  }

  @Test(arguments: [
    ("", "has no line"),
    ("\n\n", "has no line"),
    ("e=t,ts=1,v=2", "line 1: sid: is missing"),
    ("e=t,sid=\"\",ts=1", "line 1: sid: is missing"),
    ("e=t,sid=\"a\"\nsid=\"a\",ts=1", "line 2: e: is missing"),
    ("e=t,sid=\"a\",v=1", "line 1: v: is not 2"),
    ("e=t,sid=\"a\",msd=-1", "line 1: msd: is not a number"),
    ("e=t,sid=\"a\",msd=86400001", "line 1: msd: is longer than a day"),
    ("e=t,sid=\"a\",bsd=high", "line 1: bsd: is not a number"),
    ("e=t,sid=\"a", "line 1: no closing quotation mark at column 11"),
    ("e=t,,sid=\"a\"", "line 1: no key at column 5"),
    ("e=t sid=\"a\"", "line 1: no comma at column 5"),
    ("e=t,sid=\"a\",br=(1 2", "line 1: no value at column 20"),
    ("e=t,sid=\"a\",io.lookahead-unseen=1", "line 1: io.lookahead-unseen: is more than was loaded"),
    ("e=t,sid=\"a\",io.lookahead-loaded=450000000001", "is more than 450000000000"),
  ])
  func `what is no report is refused with its place`(_ text: String, _ words: String) throws {
    let error = #expect(throws: RecordError.self) { try Self.parts(text) }
    #expect("\(error!)".contains(words), "\(error!)")
  }

  @Test func `lines and keys are bounded`() throws {
    let line = "e=t,sid=\"a\",ts=1,v=2"
    let full = Array(repeating: line, count: CMCDReport.lines).joined(separator: "\n")
    #expect(try Self.parts(full).count == CMCDReport.lines)
    #expect(throws: RecordError.self) { try Self.parts(full + "\n" + line) }
    let keys = (0...100).map { "k\($0)" }.joined(separator: ",")
    #expect(throws: RecordError.self) { try Self.parts(line + "," + keys) }
    let deep = "e=t,sid=\"a\",bl=" + String(repeating: "(", count: 10_000)
    #expect(throws: RecordError.self) { try Self.parts(deep) }
  }
}
