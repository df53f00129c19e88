import FeedFormats
import Testing

struct JSONShapeTests {
  @Test(arguments: [
    (FeedFormat.jsonFeed, #"{"version":"https://jsonfeed.org/version/1"}"#, "1: !is no JSON Feed"),
    (.jsonFeed, "{\"items\":[\n7]}", "2: !an item is not an object"),
    (.jsonFeed, #"{"items":[{"title":"x"}]}"#, "1: !the item has no id"),
    (
      .jsonFeed, #"{"items":[{"id":"1","date_published":"soon"}]}"#,
      "date_published: \"soon\" is no time"
    ),
    (.jsonFeed, "{\"items\":\n[,]}", "2: !is not JSON"),
    (.jsonFeed, "{\"items\":[", "!the input ends within this JSON object"),
    (.jsonFeed, "x", "!here a JSON object belongs"),
    (.mastodon, #"[{"id":"1"}]"#, "!is no status of Mastodon"),
    (.mastodon, "[{\"uri\":\"u\",\"account\":{}}\n", "!the input ends within the JSON array"),
    (.reddit, #"{"kind":"t5","data":{}}"#, "!is no post of Reddit"),
    (.reddit, "{}", "!is no post of Reddit"),
  ])
  func `what is no post says why, and on which line`(
    _ format: FeedFormat, _ text: String, _ expected: String
  ) {
    let records = Reading(text, format).records
    #expect(records.last?.contains(expected) == true, "\(records)")
  }

  @Test(arguments: [
    (FeedFormat.jsonFeed, #"{"items":[{"id":1e400,"url":"u"}]}"#),
    (
      .jsonFeed,
      #"{"items":[{"id":"a","attachments":[{"url":"https://m.example/a.mp4","mime_type":"video/mp4","duration_in_seconds":1e300,"size_in_bytes":-4}]}]}"#
    ),
    (
      .mastodon,
      #"[{"uri":"u","account":{"acct":"a"},"media_attachments":[{"type":"video","url":"https://m.example/v","meta":{"original":{"width":1e40,"height":0,"duration":-1}}}]}]"#
    ),
    (
      .reddit,
      #"{"kind":"t3","data":{"name":"t3_a","created_utc":1e300,"score":1e200,"media":[],"preview":{"images":{}}}}"#
    ),
  ])
  func `numbers beyond measure are unknown, and never a trap`(_ format: FeedFormat, _ text: String)
  {
    let records = Reading(text, format).records
    #expect(records.count == 1 && !records[0].contains("!"), "\(records)")
  }

  @Test func `statuses and posts of Reddit come as lines, too`() {
    let status = #"{"uri":"u1","account":{"acct":"a"},"content":"x"}"#
    #expect(
      Reading(status + "\n" + status.replacing("u1", with: "u2"), .mastodon).records.count == 2)
    let thing = #"{"subreddit":"s","permalink":"/r/s","id":"a"}"#
    #expect(
      Reading(thing + "\n" + thing.replacing("\"a\"", with: "\"b\""), .reddit).records.count == 2)
  }

  @Test func `a document beyond the limit is refused`() {
    let items = (0..<100).map { "{\"id\":\"i\($0)\"}" }.joined(separator: ",")
    let text = "{\"items\":[\(items)]}"
    let settings = FormatSettings(recordLimitBytes: 1 << 20, documentLimitBytes: 500)
    #expect(
      Reading(text, .jsonFeed, settings: settings).records == [
        "1: !the record has more than 500 bytes"
      ])
  }

  @Test func `comments are counted and not kept`() {
    let text =
      #"[{"kind":"Listing","data":{"children":[{"kind":"t3","data":{"name":"t3_a","title":"t"}}]}},{"kind":"Listing","data":{"children":[{"kind":"t1","data":{}},{"kind":"more","data":{}}]}}]"#
    let reading = Reading(text, .reddit)
    #expect(reading.records.count == 1)
    #expect(reading.omissions[.comment] == 2)
  }
}
