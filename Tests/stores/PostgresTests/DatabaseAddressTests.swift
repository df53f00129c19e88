import Synchronization
import Testing

@testable import Postgres

@Suite struct DatabaseAddressTests {
  @Test(arguments: [
    ("postgres://u:secret@h/d", "postgres://u@h/d"),
    (
      "postgresql://u:secret@h1:1,h2:2/d?target_session_attrs=read-write",
      "postgres://u@h1,h2:1,2/d"
    ),
    ("host=h user=u password=secret dbname=d port=6", "postgres://u@h:6/d"),
    ("service=feeds", "service=feeds"), ("service=feeds password=secret", "service=feeds"),
    ("postgres:///d?password=secret", "postgres:///d"),
    ("postgres://u:secret@a,b,c/d", "postgres://u@a,b,c/d"),
    ("postgres://a,b:6/d", "postgres://a,b:,6/d"),
  ])
  func `what is told of an address holds no password`(_ text: String, _ name: String) throws {
    let address = try DatabaseAddress(text)
    #expect(address.name == name)
    #expect(!"\(address)".contains("secret"))
  }

  @Test(arguments: [
    "postgres://[secret", "host=h secret", "postgres://h/d?secret=1",
    "lookahead.sqlite", "", "postgres://h/a\u{0}b",
  ])
  func `what libpq does not understand is refused without repeating it`(_ text: String) {
    let error = #expect(throws: PostgresError.unreadableAddress) { try DatabaseAddress(text) }
    #expect(error?.description.contains("secret") == false)
  }

  @Test(arguments: [
    ("postgres://a/d", nil, "read-write", "prefer-standby"),
    ("postgres://a,b/d", "read-write", "read-write", "prefer-standby"),
    ("postgres://a,b/d?target_session_attrs=any", nil, "read-write", nil),
    ("postgres://a/d?target_session_attrs=standby", nil, "read-write", nil),
    ("postgres:///d?host=/a,/b", "read-write", "read-write", "prefer-standby"),
    ("service=feeds", nil, "read-write", nil),
  ])
  func `which server is meant`(
    _ text: String, _ addressed: String?, _ writable: String?, _ standby: String?
  ) throws {
    let address = try DatabaseAddress(text)
    #expect(address.sessionAttributes(.addressed) == addressed)
    #expect(address.sessionAttributes(.writable) == writable)
    #expect(address.sessionAttributes(.standby) == standby)
  }

  @Test(arguments: [
    "feeds.sqlite", "/var/lib/x", "postgres", "hosts=1", "./dbname=x", "-",
    "/data/my user=1.sqlite",
    "a b.sqlite", "user", "a:b.sqlite", "me@home.sqlite", "feeds=old.sqlite", "file:feeds.sqlite",
    "./u:p@h",
  ])
  func `a path is no address`(_ text: String) {
    #expect(!DatabaseAddress.isMeant(by: text))
  }

  @Test(arguments: [
    "user=la password=s3cret host=h", " user=la password=s3cret", "password = s3cret",
    "usr=la password=s3cret host=/run", "PASSWORD=s3cret", "\nuser=la",
  ])
  func `a list of pairs is an address, whatever comes first`(_ text: String) {
    #expect(DatabaseAddress.isMeant(by: text))
  }

  @Test(arguments: [
    "Postgres://u:s3cret@h/d", " postgres://u:s3cret@h/d", "postgre://u:s3cret@h/d",
    "mysql://u:s3cret@h/d", "u:s3cret@h/d", "u:s/3cret@h/d", "postgres:u:s3cret@h",
    "Server=h;Pwd=s3cret",
    "jdbc:postgresql://h/d?password=s3cret", "usr=la password=s3cret",
    "user=la passwort=s3cret host=h",
  ])
  func `what looks like an address and is none is refused, and not shown`(_ text: String) {
    #expect(DatabaseAddress.isMeant(by: text))
    let error = #expect(throws: PostgresError.unreadableAddress) { try DatabaseAddress(text) }
    #expect(error.map { "\($0)".contains("s3cret") } == false)
  }

  @Test func `nobody there is an error in time, and another attempt is not made at once`() throws {
    let start = ContinuousClock.now
    let passed = Mutex(Duration.zero)
    let outage = Outage { start + passed.withLock { $0 } }
    let pools = try (0..<3).map { _ in
      ConnectionPool(
        try DatabaseAddress("postgres:///d?host=/nowhere/at/all&password=secret"), limit: 1,
        outage: outage)
    }
    for pool in pools {
      let error = #expect(throws: PostgresError.self) { try pool.run { try $0.run("SELECT 1") } }
      guard case .cannotConnect(let reason)? = error else { throw error! }
      #expect(!reason.contains("secret") && !reason.contains("\n"))
    }
    #expect(outage.attempts == 1)
    passed.withLock { $0 = .seconds(1) }
    #expect(throws: PostgresError.self) { try pools[0].run { try $0.run("SELECT 1") } }
    #expect(outage.attempts == 2)
  }
}
