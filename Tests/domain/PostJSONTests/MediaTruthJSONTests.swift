import Feed
import PostJSON
import TestSupport
import Testing

/// What is known of a file, as JSON and back.
struct MediaTruthJSONTests {
  private static let clip = MediaTruth(
    kind: .video, bytes: 788_493, mimeType: "video/mp4", codec: "h264", soundCodec: "aac",
    hasSound: true, width: 640, height: 360, durationMilliseconds: 10_000,
    placeholder: MediaPlaceholder(
      thumbHash: [0xd5, 0x07, 0x12, 0x1d, 0x04], color: .init(red: 0x6b, green: 0x7a, blue: 0x3d)),
    start: MediaTiming(
      headBytes: 41_210,
      curve: [
        .init(milliseconds: 1_000, bytes: 139_721), .init(milliseconds: 10_000, bytes: 788_493),
      ],
      lead: [.init(kilobitsPerSecond: 240, bytes: 640_000)]),
    version: .content(sha256: [UInt8](repeating: 0xa5, count: 32)))

  @Test func `a file's truth has the names of the API`() {
    let digest = String(repeating: "a5", count: 32)
    #expect(
      String(decoding: Self.clip.json, as: UTF8.self) == #"""
        {"kind":"video","mimeType":"video/mp4","codec":"h264","soundCodec":"aac","hasSound":true,\#
        "width":640,"height":360,"durationMs":10000,"bytes":788493,\#
        "placeholder":{"thumbhash":"1QcSHQQ=","color":"#6b7a3d"},\#
        "start":{"headBytes":41210,"curve":[[1000,139721],[10000,788493]],"lead":[[240,640000]]},\#
        "version":"sha256:\#(digest)"}
        """#)
  }

  @Test func `a file that no head starts names the ranges that do`() throws {
    let clip = MediaTruth(
      kind: .video, bytes: 1_000, mimeType: "video/mp4",
      start: MediaTiming(
        isStartable: false, headBytes: 1_000, neededRanges: [0..<100, 900..<1_000]))
    #expect(
      String(decoding: clip.json, as: UTF8.self)
        == #"{"kind":"video","mimeType":"video/mp4","bytes":1000,"start":{"startable":false,"#
        + #""needed":[[0,99],[900,999]],"headBytes":1000}}"#)
    #expect(try MediaTruth(json: clip.json) == clip)
  }

  @Test(arguments: TestRandom.seeds)
  func `each truth reads back as itself, and as the same bytes`(seed: UInt64) throws {
    var random = TestRandom(seed)
    for _ in 0..<500 {
      let truth = MediaTruth.random(&random)
      let read = try MediaTruth(json: truth.json)
      try #require(read == truth, TestRandom.replay)
      try #require(read.json == truth.json, TestRandom.replay)
      try #require(truth.problem == nil, TestRandom.replay)
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `a truth reads back, or has a problem that says so before`(seed: UInt64) throws {
    var random = TestRandom(seed)
    for _ in 0..<500 {
      var truth = MediaTruth.random(&random)
      let text = random.one(of: ["", "a\u{7}", "\u{7f}", String(repeating: "\"", count: 4_096)])
      let number = random.one(of: [-1, 0, 1 << 40, 1 << 54, Int.max, Int.min])
      switch random.number(0...9) {
      case 0: truth.mimeType = text
      case 1: truth.codec = text
      case 2: (truth.soundCodec, truth.hasSound) = ("aac", random.one(of: [nil, false]))
      case 3: truth.width = number
      case 4: truth.height = number
      case 5: truth.frameCount = number
      case 6: truth.durationMilliseconds = number
      case 7: truth.placeholder?.thumbHash = Array(repeating: 1, count: random.number(0...30))
      case 8: truth.start?.lead = [.init(kilobitsPerSecond: number, bytes: 1)]
      default: truth.version = .content(sha256: Array(repeating: 1, count: random.number(30...33)))
      }
      guard truth.problem == nil else { continue }
      try #require(try MediaTruth(json: truth.json) == truth, TestRandom.replay)
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `damaged JSON is refused, or means what it says`(seed: UInt64) throws {
    var random = TestRandom(seed)
    for _ in 0..<1_000 {
      var json = MediaTruth.random(&random).json
      for _ in 0..<random.number(1...3) {
        json[random.number(0...json.count - 1)] = random.one(of: json + Array("-9e.]\"".utf8))
      }
      guard let truth = try? MediaTruth(json: json) else { continue }
      try #require(try MediaTruth(json: truth.json) == truth, TestRandom.replay)
      #expect(truth.start?.problem(fileBytes: truth.bytes) == nil, TestRandom.replay)
    }
  }

  private static func members(_ start: String) -> String {
    #"{"kind":"video","mimeType":"video/mp4","bytes":1000,"# + start + "}"
  }

  @Test(arguments: [
    (#""width":0"#, "width: 0 is not in 1…1000000"),
    (#""colour":"red""#, "colour: unknown field"),
    (#""hasSound":1"#, "hasSound: is not true or false"),
    (#""undecoded":"vlc""#, "undecoded: \"vlc\" is not one of ffmpeg, heif-convert"),
    (#""undecoded":1"#, "undecoded: is not a text"),
    (#""soundCodec":"aac""#, "hasSound: is not true, but there is a soundCodec"),
    (#""version":"sha256:00""#, "version: is not"),
    (#""version":"etag:W/\"x\"""#, "version: is not"),
    (##""placeholder":{"thumbhash":"AAAA","color":"#000000"}"##, "placeholder.thumbhash: is no"),
    (
      ##""placeholder":{"thumbhash":"1QcSHQR=","color":"#000000"}"##, "placeholder.thumbhash: is no"
    ),
    (##""placeholder":{"thumbhash":"1QcSHQQ","color":"#000000"}"##, "placeholder.thumbhash: is no"),
    (##""placeholder":{"thumbhash":"1QcSHQQ=","color":"#00000G"}"##, "placeholder.color: is not"),
    (#""start":{}"#, "start.headBytes: is missing"),
    (#""start":{"headBytes":1001}"#, "start.headBytes: 1001 is not in 0…1000"),
    (#""start":{"headBytes":9,"startable":false}"#, "start.needed: is missing"),
    (
      #""start":{"headBytes":9,"needed":[[0,8]]}"#,
      "start.needed: is only for a file that is not startable"
    ),
    (
      #""start":{"headBytes":9,"startable":false,"needed":[[0,8],[8,9]]}"#,
      "start.needed: has ranges that overlap"
    ),
    (
      #""start":{"headBytes":9,"startable":false,"needed":[[0,1000]]}"#,
      "start.needed: has ranges that overlap"
    ),
    (
      #""start":{"headBytes":9,"startable":false,"needed":[[9,8]]}"#,
      "start.needed: has a range that ends before it begins"
    ),
    (#""start":{"headBytes":9,"curve":[[0,8]]}"#, "start.curve: falls"),
    (#""start":{"headBytes":9,"curve":[[1,9],[0,10]]}"#, "start.curve: falls"),
    (#""start":{"headBytes":9,"curve":[[1,1001]]}"#, "start.curve: exceeds the file"),
    (#""start":{"headBytes":9,"curve":[[1]]}"#, "start.curve[0]: is not a pair of numbers"),
    (#""start":{"headBytes":9,"curve":[[1,9,9]]}"#, "start.curve[0]: is not a pair of numbers"),
    (#""start":{"headBytes":9,"curve":[[-1,9]]}"#, "start.curve[0][0]: -1 is not in 0…"),
    (#""start":{"headBytes":9,"scans":[9,9]}"#, "start.scans: do not rise"),
    (#""start":{"headBytes":9,"scans":[1001]}"#, "start.scans: do not rise, or exceed"),
    (#""start":{"headBytes":9,"scans":[1.5]}"#, "start.scans[0]: is not a whole number"),
    (#""start":{"headBytes":9,"lead":[[10,9],[10,8]]}"#, "start.lead: has bandwidths"),
    (#""start":{"headBytes":9,"lead":[[10,9],[20,10]]}"#, "start.lead: has bandwidths"),
    (#""start":{"headBytes":9,"lead":[[10,1001]]}"#, "start.lead: has bandwidths"),
  ])
  func `what cannot be true is refused by name`(members: String, problem: String) {
    let error = #expect(throws: RecordError.self) {
      try MediaTruth(json: Array(Self.members(members).utf8))
    }
    #expect(error?.description.hasPrefix(problem) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: [
    ("true", MissingDecoder?.some(.ffmpeg)), ("false", nil), (#""ffmpeg""#, .ffmpeg),
    (#""heif-convert""#, .heifConvert),
  ])
  func `what was missing is read as it was ever written`(
    json: String, missing: MissingDecoder?
  ) throws {
    let truth = try MediaTruth(json: Array(Self.members(#""undecoded":"# + json).utf8))
    #expect(truth.missingDecoder == missing)
  }

  @Test func `more rows than are ever written are refused`() {
    let rows = (1...257).map { "[\($0),9]" }.joined(separator: ",")
    for field in ["curve", "lead"] {
      #expect(throws: RecordError.self) {
        try MediaTruth(
          json: Array(Self.members(#""start":{"headBytes":9,"\#(field)":[\#(rows)]}"#).utf8))
      }
    }
    #expect(throws: RecordError(field: "", problem: "has 65537 bytes, more than 65536")) {
      try MediaTruth(json: [UInt8](repeating: 0x20, count: 65_537))
    }
  }
}
