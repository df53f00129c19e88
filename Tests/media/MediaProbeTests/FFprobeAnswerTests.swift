import MediaFormats
import TestSupport
import Testing

@testable import MediaProbe

/// What ffprobe says is believed as far as it can be true.
struct FFprobeAnswerTests {
  private static func answer(_ json: String) throws(ProbeError) -> FFprobeAnswer {
    try FFprobeAnswer(Array(json.utf8))
  }

  @Test func `streams are told apart, as displayed`() throws {
    let answer = try Self.answer(
      #"""
      {"programs":[],"streams":[
      {"index":0,"codec_name":"mjpeg","codec_type":"video","width":9,"height":9,
       "disposition":{"attached_pic":1}},
      {"index":1,"codec_name":"h264","codec_type":"video","width":320,"height":240,
       "sample_aspect_ratio":"4:3","side_data_list":[{"rotation":-90}]},
      {"index":2,"codec_name":"aac","codec_type":"audio"}],
      "format":{"duration":"9.916700"}}
      """#)
    #expect(answer.durationMilliseconds == 9_917)
    #expect(answer.picture?.index == 1 && answer.picture?.codec == "h264")
    #expect(answer.picture?.codedSize == PixelSize(width: 320, height: 240))
    #expect(answer.picture?.displaySize == PixelSize(width: 240, height: 427))
    #expect(answer.sound?.codec == "aac")
  }

  @Test(arguments: TestRandom.seeds)
  func `damaged answers are read or refused`(seed: UInt64) {
    var random = TestRandom(seed)
    let whole =
      Array(
        #"{"streams":[{"index":0,"codec_type":"video","width":32,"height":24,"sample_aspect_ratio":"#
          .utf8)
      + Array(
        #""4:3"}],"format":{"duration":"9.9"}}"#.utf8)
    for _ in 0..<2_000 {
      var bytes = whole
      for _ in 0..<random.number(1...4) {
        bytes[random.number(0...bytes.count - 1)] = random.one(of: whole + Array("-9e.\\".utf8))
      }
      guard let answer = try? FFprobeAnswer(bytes), let size = answer.picture?.displaySize
      else { continue }
      #expect((1...1_000_000).contains(size.width), TestRandom.replay)
    }
  }

  @Test func `no size is none, and no list is empty`() throws {
    let answer = try Self.answer(
      #"{"streams":[{"codec_type":"video","width":0,"height":0,"sample_aspect_ratio":"0:1"}]}"#)
    #expect(answer.picture != nil && answer.picture?.codedSize == nil)
    #expect(try Self.answer("{}").picture == nil)
  }

  @Test(arguments: [
    "", "null x", #"{"a":1,"a":2}"#, #"{"streams":[{"width":-1}]}"#,
    #"{"streams":[{"width":1e30}]}"#, #"{"streams":[{"width":1.5}]}"#,
    #"{"streams":[{"width":"9999999999999999999"}]}"#, #"{"format":{"duration":"nan"}}"#,
    #"{"format":{"duration":"inf"}}"#, #"{"format":{"duration":"1e300"}}"#,
    #"{"format":{"duration":"soon"}}"#,
  ])
  func `what cannot be true is an error`(json: String) {
    #expect(throws: ProbeError.self) { try Self.answer(json) }
  }
}
