import SHA2
import Testing

@testable import ObjectStorage

/// AWS's own examples: its test suite of Signature Version 4, and those of the documentation of S3.
@Suite struct RequestSignerTests {
  private static let suite = RequestSigner(
    .init(accessKey: "AKIDEXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
    region: "us-east-1", service: "service", signsBodyDigest: false)
  private static let s3 = RequestSigner(
    .init(
      accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    region: "us-east-1")

  private static let noBody = SHA256.hash([])
  private static let body = SHA256.hash(Array("Welcome to Amazon S3.".utf8))
  private static let suiteHost = "example.amazonaws.com"
  private static let host = "examplebucket.s3.amazonaws.com"
  // 2015-08-30T12:36:00Z, 2013-05-24T00:00:00Z
  private static let (suiteTime, time) = (1_440_938_160, 1_369_353_600)

  private static let cases:
    [(name: String, RequestSigner.Request, isSuite: Bool, signature: String)] = [
      (
        "get-vanilla", .init(method: "GET", host: suiteHost, path: "/", bodyDigest: noBody), true,
        "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
      ),
      (
        "get-vanilla-query-order-key-case",
        .init(
          method: "GET", host: suiteHost, path: "/",
          query: [("Param2", "value2"), ("Param1", "value1")], bodyDigest: noBody), true,
        "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
      ),
      (
        "post-vanilla", .init(method: "POST", host: suiteHost, path: "/", bodyDigest: noBody), true,
        "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
      ),
      (
        "GET Object",
        .init(
          method: "GET", host: host, path: "/test.txt", fields: [("range", "bytes=0-9")],
          bodyDigest: noBody), false,
        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
      ),
      (
        "PUT Object",
        .init(
          method: "PUT", host: host, path: RequestSigner.path("/test$file.text"),
          fields: [
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
          ], bodyDigest: body), false,
        "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
      ),
      (
        "GET Bucket Lifecycle",
        .init(method: "GET", host: host, path: "/", query: [("lifecycle", "")], bodyDigest: noBody),
        false, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
      ),
      (
        "GET Bucket (List Objects)",
        .init(
          method: "GET", host: host, path: "/", query: [("prefix", "J"), ("max-keys", "2")],
          bodyDigest: noBody), false,
        "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
      ),
    ]

  @Test(arguments: cases.indices)
  func `a request is signed as AWS signs it`(_ index: Int) throws {
    let (name, request, isSuite, signature) = Self.cases[index]
    let fields = (isSuite ? Self.suite : Self.s3).fields(
      of: request, secondsSince1970: isSuite ? Self.suiteTime : Self.time)
    let authorization = try #require(fields.last { $0.name == "authorization" }?.value)
    #expect(authorization.hasSuffix(", Signature=" + signature), "\(name): \(authorization)")
    #expect(!fields.contains { $0.value.contains("wJalrXUtnFEMI") })
  }

  @Test func `paths and queries are encoded once, and a token is signed`() {
    #expect(RequestSigner.path("/a b/é+~.x") == "/a%20b/%C3%A9%2B~.x")
    #expect(RequestSigner.query([("b", "2"), ("a", "x/y"), ("a", "")]) == "a=&a=x%2Fy&b=2")
    let signer = RequestSigner(
      .init(accessKey: "a", secretKey: "s", sessionToken: "t"), region: "r")
    let request = RequestSigner.Request(
      method: "GET", host: "h", path: "/", bodyDigest: Self.noBody)
    let fields = signer.fields(of: request, secondsSince1970: 0)
    #expect(fields.contains { $0 == ("x-amz-security-token", "t") })
    #expect(fields.contains { $0 == ("x-amz-date", "19700101T000000Z") })
    #expect(
      fields.last?.value.contains("host;x-amz-content-sha256;x-amz-date;x-amz-security-token")
        == true)
  }

  @Test func `addresses`() throws {
    for (text, bucket, prefix) in [
      ("s3://abc", "abc", ""), ("s3://abc/", "abc", ""), ("s3://a-b.c/x/y", "a-b.c", "x/y/"),
      ("s3://abc/x/", "abc", "x/"),
    ] {
      let address = try ObjectAddress(text)
      #expect(address.bucket == bucket && address.prefix == prefix, "\(text)")
    }
    for text in [
      "", "abc", "s3:/abc", "s3://", "s3://ab", "s3://ABC", "s3://abc//x", "s3://abc/../x",
      "s3://a_c",
    ] {
      #expect(throws: ObjectStoreError.notAnAddress(text)) { try ObjectAddress(text) }
    }
  }

  @Test func `a URL is signed as AWS signs it, and says how long it holds`() {
    let request = RequestSigner.Request(
      method: "GET", host: Self.host, path: "/test.txt", bodyDigest: [])
    let query = Self.s3.signedQuery(
      of: request, secondsSince1970: Self.time, forSeconds: 86_400)
    #expect(
      query
        == "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2F"
        + "aws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="
        + "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404")
  }

  @Test func `answers of a store are read, whatever stands in keys`() throws {
    var answer = StoreAnswer(status: 200)
    for line in ["ETag: \"x\"\r\n", "Content-Range: bytes 2-4/9\r\n", "no field\r\n"] {
      answer.add(line: line)
    }
    // The accent would be one letter with what stands before it.
    let keys = ["a&b", "c", "\u{301}accent", "<Key>"]
    for key in keys {
      answer.body +=
        Array("<Contents><Key>\(XMLText.escaped(key))</Key><Size>3</Size></Contents>".utf8)
    }
    #expect(answer["etag"] == "\"x\"")
    #expect(answer.contentRange?.range == 2..<5 && answer.contentRange?.size == 9)
    let found = XMLText.all("Contents", in: answer.body[...])
      .compactMap { XMLText.first("Key", in: $0) }
    #expect(found.map { Array($0.utf8) } == keys.map { Array($0.utf8) })
    var refused = StoreAnswer(status: 403)
    refused.body = Array("<Error><Code>AccessDenied</Code></Error>".utf8)
    #expect(refused.refusal == .refused(status: 403, code: "AccessDenied", message: ""))
    for range in ["bytes 4-2/9", "bytes 0-9/9", "bytes */9", "bytes -1-2/9", ""] {
      var answer = StoreAnswer(status: 206)
      answer.add(line: "Content-Range: \(range)")
      #expect(answer.contentRange == nil, "\(range)")
    }
  }

  @Test func `times are those of lists and of fields`() {
    for (text, seconds) in [
      ("2026-11-26T01:02:03.000Z", 1_795_654_923), ("2026-11-26T01:02:03Z", 1_795_654_923),
      ("Thu, 26 Nov 2026 01:02:03 GMT", 1_795_654_923), ("1970-01-01T00:00:00Z", 0), ("never", 0),
      ("2026-13-26T01:02:03Z", 0),
    ] {
      #expect(ObjectStore.seconds(text) == seconds, "\(text)")
    }
    #expect(ObjectStore.seconds(nil) == 0)
  }

  @Test func `settings are those of other programs`() throws {
    let keys = ["AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "s"]
    let plain = try ObjectStore.Settings(environment: keys)
    #expect(plain.endpoint == "https://s3.us-east-1.amazonaws.com" && plain.region == "us-east-1")
    let own = try ObjectStore.Settings(
      environment: keys.merging([
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9000/", "AWS_REGION": "eu", "AWS_SESSION_TOKEN": "",
      ]) { $1 })
    #expect(own.endpoint == "http://127.0.0.1:9000" && own.region == "eu")
    #expect(own.credentials.sessionToken == nil)
    for environment in [
      [:], ["AWS_ACCESS_KEY_ID": "a"], keys.merging(["AWS_ENDPOINT_URL": "store"]) { $1 },
    ] {
      #expect(throws: ObjectStoreError.self) { try ObjectStore.Settings(environment: environment) }
    }
  }

  @Test func `names are encoded by their bytes, also where a letter begins with a slash`() throws {
    #expect(
      RequestSigner.path("/b/\u{301}a b+~%\u{e9}//") == "/b/%CC%81a%20b%2B~%25%C3%A9//")
    let address = try ObjectAddress("s3://bucket/\u{301}a/\u{301}b")
    #expect(
      address.bucket == "bucket" && address.prefix.utf8.elementsEqual("\u{301}a/\u{301}b/".utf8))
  }
}
