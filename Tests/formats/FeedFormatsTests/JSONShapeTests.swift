import FeedFormats
import Testing

struct JSONShapeTests {
  @Test(arguments: [
    (
      FeedFormat.jsonFeed, #"{"version":"https://jsonfeed.org/version/1"}"#,
      "1: !is not a JSON Feed"
    ),
    (.jsonFeed, "{\"items\":[\n7]}", "2: !an item is not an object"),
    (.jsonFeed, #"{"items":[{"title":"x"}]}"#, "1: !the item has no id"),
    (
      .jsonFeed, #"{"items":[{"id":"1","date_published":"soon"}]}"#,
      "date_published: \"soon\" is not a time"
    ),
    (.jsonFeed, "{\"items\":\n[,]}", "2: !is not JSON"),
    (.jsonFeed, "{\"items\":[", "!the input ends within this JSON object"),
    (.jsonFeed, "x", "!expected a JSON object"),
    (.mastodon, #"[{"id":"1"}]"#, "!is not a Mastodon status"),
    (.mastodon, "[{\"uri\":\"u\",\"account\":{}}\n", "!the input ends within the JSON array"),
    (.reddit, #"{"kind":"t5","data":{}}"#, "!is not a Reddit post"),
    (.reddit, "{}", "!is not a Reddit post"),
  ])
  func `what is no post says why, and on which line`(
    _ format: FeedFormat, _ text: String, _ expected: String
  ) {
    let records = Reading(text, format).records
    #expect(records.last?.contains(expected) == true, "\(records)")
  }

  @Test(arguments: [
    (FeedFormat.jsonFeed, #"{"items":[{"id":1e400,"url":"/u"}]}"#),
    (
      .jsonFeed,
      #"{"items":[{"id":"a","attachments":[{"url":"https://m.example/a.mp4","mime_type":"video/mp4","duration_in_seconds":1e300,"size_in_bytes":-4}]}]}"#
    ),
    (
      .mastodon,
      #"[{"uri":"/u","account":{"acct":"a"},"media_attachments":[{"type":"video","url":"https://m.example/v","meta":{"original":{"width":1e40,"height":0,"duration":-1}}}]}]"#
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

  // MARK: Objects of any kind

  private func read(_ text: String, _ map: [String], feed: String? = nil) throws -> [String] {
    let columns = try map.map { try ColumnMapping($0) }
    let settings = FormatSettings(recordLimitBytes: 1 << 20, columns: columns, feed: feed)
    return Reading(text, .json, settings: settings).records
  }

  @Test(arguments: [
    (
      ["id=id", "text=content.body"], #"{"id":7,"content":{"body":" x "}}"#,
      #""id":"7","type":"text","text":"x""#
    ),
    (["content.body=text"], #"{"id":"7","content.body":"dotted"}"#, #""text":"dotted""#),
    (
      ["id=id", "media.url=images[].src"],
      #"{"id":"a","images":[{"src":"https://x/1.jpg"},{"src":"https://x/2.jpg"}]}"#,
      #""media":[{"kind":"image","url":"https://x/1.jpg"},{"kind":"image","url":"https://x/2.jpg"}]"#
    ),
    (
      ["id=id", "media.url=images[1].src"],
      #"{"id":"a","images":[{"src":"https://x/1.jpg"},{"src":"https://x/2.jpg"}]}"#,
      #""media":[{"kind":"image","url":"https://x/2.jpg"}]"#
    ),
    (
      ["id=id", "media.url=pictures"], #"{"id":"a","pictures":["https://x/1.jpg"]}"#,
      #""url":"https://x/1.jpg""#
    ),
    (["id=id", "tags=tags"], #"{"id":"a","tags":["b, c","d"]}"#, #""tags":["b, c","d"]"#),
    (["id=id", "extra.raw=meta"], #"{"id":"a","meta":{"x":[1]}}"#, #""extra":{"raw":{"x":[1]}}"#),
    (["id=id", "counters.likes=n"], #"{"id":"a","n":3}"#, #""counters":{"likes":3}"#),
    (
      ["id=id", "publishedAt=at"], #"{"id":"a","at":1343516756123}"#,
      #""publishedAt":"2012-07-28T23:05:56.123Z""#
    ),
    (["id=id", "title=t"], #"{"id":"a","t":null}"#, #"{"id":"a","type":"text"}"#),
    (["title=t"], #"{"t":{"a":1}}"#, "t: is an object; continue the path to a member: a"),
    (["title=t"], #"{"t":["a","b"]}"#, "t: has 2 values; [0] selects the first"),
    (
      ["title=t"], #"{"u":1,"v":2}"#,
      "no mapped value is present; the members are u, v, the fields id, type"
    ),
    ([], #"{"u":1}"#, "--map field=path is required; the members are u"),
    (["id=id"], "{\"id\":\"a\"", "it is incomplete"),
  ])
  func `objects of any kind are read by the paths of their values`(
    _ map: [String], _ text: String, _ expected: String
  ) throws {
    let records = try read(text, map)
    #expect(records.count == 1 && records[0].contains(expected), "\(records)")
  }

  @Test func `an array, lines, and objects over lines are read alike`() throws {
    let objects = ["{\"id\":\"a\",\n\"t\":\"x\"}", "{\"id\":\"b\",\"t\":\"y\"}"]
    let array = try read("[" + objects.joined(separator: ",\n") + "]", ["id=id", "t=title"])
    let lines = try read(objects.joined(separator: "\n"), ["id=id", "t=title"])
    #expect(array.count == 2 && array == lines)
    // The same object without an id is the same post.
    let unnamed = try read(objects[1] + objects[1], ["t=title"])
    #expect(unnamed.count == 2 && unnamed[0] == unnamed[1])
  }
}
