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

  /// A session as dash.js 5, hls.js 1.7 and Shaka 5 write it, which have the same encoder: keys in order, a list for what
  /// is told apart by kind of object, an event of each kind of CTA-5004-B, `ts` of a response when it was asked for.
  private static let session = """
    bg=?0,e=t,sf=d,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=0,sta=s,ts=1727712000000,v=2
    e=ps,sf=d,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=1,st=v,sta=s,ts=1727712000010,v=2
    br=(3000;v),d=4004,e=rr,mtp=(25400),ot=v,rc=200,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=2,ts=1727712000020,ttfb=41,ttfbb=44,ttlb=180,url="https://cdn.example/v/1.m4s?a=b,c",v=2
    br=(128;a),e=rr,ot=a,rc=404,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=3,ts=1727712000025,ttfb=12,ttlb=46,url="https://cdn.example/a/1.m4s",v=2
    bl=(21300;v 8100;a);p=2,e=ps,msd=612,ltc=3550,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=4,sta=p,ts=1727712000640,v=2
    br=(6000;v 128;a),e=bc,lb=(600;v),pb=(6000;v),sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=5,ts=1727712004000,tab=(6049),tb=(8000;v 128;a),tpb=(8000),v=2
    bs,bsa=(1;v),bsd=(1550;v 80;a),bsda=(1550;v),e=ps,nor=("../v/3.m4s";r="0-99" "../a/3.m4s"),sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=6,sta=r,ts=1727712009000,v=2
    cid="clip \\"1\\"",e=c,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=7,ts=1727712010000,v=2
    bg,e=b,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=8,ts=1727712011000,v=2
    e=m,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=9,ts=1727712011100,v=2
    e=um,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=10,ts=1727712011200,v=2
    e=pe,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=11,ts=1727712011300,v=2
    e=pc,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=12,ts=1727712011400,v=2
    e=pr,pr=1.5,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=13,ts=1727712011500,v=2
    e=abs,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=14,ts=1727712011600,v=2
    e=as,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=15,ts=1727712011700,v=2
    e=ae,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=16,ts=1727712011800,v=2
    e=abe,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=17,ts=1727712011900,v=2
    e=sk,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=18,ts=1727712012000,v=2
    cen="liked",com.example-bin=:cGF5bG9hZA==:,com.example-when=@1727712012,com.example-what=%"caf%c3%a9",e=ce,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=19,ts=1727712012100,v=2
    e=e,ec=("404" "E1"),sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=20,ts=1727712012200,v=2
    df=12,dfa=3,e=t,pt=12345,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=21,sta=p,ts=1727712042000,v=2
    e=ps,sid="6e2fb550-c457-11e9-bb97-0800200c9a66",sn=22,sta=q,ts=1727712043000,v=2
    """

  @Test func `a session of today's players is understood`() throws {
    let reports = try CMCDReport.reports(in: Array(Self.session.utf8))
    #expect(reports.map(\.sequenceNumber) == Array(0...22))
    #expect(Set(reports.map(\.session)) == ["6e2fb550-c457-11e9-bb97-0800200c9a66"])
    #expect(reports.map(\.part.isFirst) == [true] + Array(repeating: false, count: 22))
    var figures = ReportFigures()
    for report in reports { figures.add(report.part.figures) }
    var expected = ReportFigures()
    expected.items = 1
    expected.loaders[.video] = 1
    expected.waits.add(milliseconds: 612)
    expected.frames.add(milliseconds: 612)
    expected.stalls = 1
    expected.stalledMilliseconds = 1_550
    expected.requests = 2
    #expect(figures == expected)
    #expect(reports.compactMap(\.part.downlinkKbps) == [25_400])
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
    ("e=t,sid=\"a", "line 1: missing closing quotation mark at column 11"),
    ("e=t,,sid=\"a\"", "line 1: expected a key at column 5"),
    ("e=t sid=\"a\"", "line 1: expected a comma at column 5"),
    ("e=t,sid=\"a\",br=(1 2", "line 1: expected a value at column 20"),
    ("e=t,sid=\"a\",x-b=:YQ==", "line 1: missing closing colon at column 22"),
    ("e=t,sid=\"a\",x-d=@soon", "line 1: expected a date at column 22"),
    ("e=t,sid=\"a\",x-s=%\"a", "line 1: missing closing quotation mark at column 20"),
    (
      "e=t,sid=\"a\",io.lookahead-unseen=1",
      "line 1: io.lookahead-unseen: is more than the loaded bytes"
    ),
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
