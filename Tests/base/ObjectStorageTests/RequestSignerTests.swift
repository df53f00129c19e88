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

  @Test func `answers of a store are read`() throws {
    let list = """
      HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nETag: "x"\r\n\r\n<?xml version="1.0"?><ListBucketResult>\
      <Contents><Key>a&amp;b</Key><Size>3</Size></Contents><Contents><Key>c</Key><Size>4</Size></Contents></ListBucketResult>
      """
    let answer = try StoreAnswer(Array(list.utf8))
    #expect(answer.status == 200 && answer["etag"] == "\"x\"")
    let keys = XMLText.all("Contents", in: answer.body).map { XMLText.first("Key", in: $0) }
    #expect(keys == ["a&b", "c"])
    let refused = try StoreAnswer(
      Array("HTTP/1.1 403 Forbidden\r\n\r\n<Error><Code>AccessDenied</Code></Error>".utf8))
    #expect(refused.refusal == .refused(status: 403, code: "AccessDenied", message: ""))
    #expect(throws: ObjectStoreError.self) { try StoreAnswer(Array("HTTP/1.1".utf8)) }
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
}
