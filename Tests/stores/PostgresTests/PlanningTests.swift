import PostgresTestSupport
import Testing

@testable import Postgres

/// How the server is told to plan.
@Suite(.enabled(if: PostgresCluster.isPresent, "skipped: there is no PostgreSQL"))
struct PlanningTests {
  private static let asked = "SELECT text FROM filled WHERE number = ANY ($1::int8[])"

  /// A connection, and a table without rows of which the server knows that.
  private func connect(_ options: Connection.Options) throws -> Connection {
    let (address, schema) = PostgresCluster.shared!.freshSchema()
    let connection = try Connection(try DatabaseAddress(address), options)
    try connection.run(
      script: """
        CREATE SCHEMA \(schema);
        CREATE TABLE filled (number int8 PRIMARY KEY, text text) WITH (autovacuum_enabled = off);
        ANALYZE filled
        """)
    return connection
  }

  /// How many rows the plan takes the statement to find.
  private func expectedRows(_ connection: Connection) throws -> String {
    let name = try #require(
      connection.run(
        "SELECT name::text FROM pg_prepared_statements WHERE statement = $1::text",
        [.text(Self.asked)]
      ).text(0, 0))
    let plan = try connection.runOnce("EXPLAIN EXECUTE \(name) ('{1,2,3}')").text(0, 0) ?? ""
    return String(plan.split(separator: " ").first { $0.hasPrefix("rows=") } ?? "")
  }

  @Test func `a plan that was made for an empty table is kept for so long and no longer`() throws {
    // What other tests do may have the server forget every plan (its queue of invalidations is everybody's, and
    // finite): what is kept is found so once in some tries, what is not is so the first time.
    for (planning, life, rows, tries) in [
      (Connection.Planning.byIndexesKept, 3_600_000, "rows=1", 10),
      (.byIndexesKept, 0, "rows=10", 1), (.byIndexes, 3_600_000, "rows=3", 1),
    ] {
      var options = Connection.Options(planning: planning)
      options.planLifeMilliseconds = life
      let isSo = try (0..<tries).contains { _ in try rowsPlannedAfterFilling(options) == rows }
      #expect(isSo, "\(planning), \(life)")
    }
  }

  /// How many rows the statement is taken to find that was asked for when the table was empty, and again now.
  private func rowsPlannedAfterFilling(_ options: Connection.Options) throws -> String {
    let connection = try connect(options)
    try connection.run(Self.asked, [.integers([1])])
    try connection.run(
      script: "INSERT INTO filled SELECT n, 'text' FROM generate_series(1, 5000) AS n")
    #expect(try connection.run(Self.asked, [.integers([1, 2])]).count == 2)
    return try expectedRows(connection)
  }

  @Test func `a transaction that failed is ended whatever the plans`() throws {
    var options = Connection.Options()
    options.planLifeMilliseconds = 0
    let connection = try connect(options)
    #expect(throws: PostgresError.self) {
      try connection.transaction { _ = try connection.run("SELECT 1 / 0") }
    }
    let answers = try connection.read([
      Statement("SELECT 1::int8"), Statement(Self.asked, [.integers([])]),
    ])
    #expect(answers[0].integer(0, 0) == 1 && answers[1].count == 0)
  }

  @Test func `whole tables are gone over where that is asked for`() throws {
    for planning in [Connection.Planning.asUsual, .byIndexes, .byIndexesKept] {
      let connection = try connect(Connection.Options(planning: planning))
      let setting = try connection.run("SHOW enable_seqscan").text(0, 0)
      #expect(setting == (planning == .asUsual ? "on" : "off"))
    }
  }
}
