import CPostgres

extension Connection {
  /// How the server plans statements (https://www.postgresql.org/docs/15/runtime-config-query.html).
  ///
  /// What a table has is known to the planner once it was analyzed, which is some minutes after it was filled; what
  /// it takes a table for that was empty then, a plan that is kept is made for until the next time. So statements that
  /// look for a few rows would go over the whole table, right after the first seed. By indexes they do not: nothing is
  /// forbidden by that, a statement that has no other way takes it.
  public enum Planning: Hashable, Sendable {
    /// As for everybody: for what goes over whole tables.
    case asUsual
    /// By indexes, and anew each time: for what fills tables.
    case byIndexes
    /// By indexes, and anew after a while (`Options.planLifeMilliseconds`): for what is asked often, of which planning
    /// would be half the work.
    case byIndexesKept

    /// Statements that say so to the server.
    var settings: String {
      switch self {
      case .asUsual: ""
      case .byIndexes: Self.indexes + "SET plan_cache_mode = force_custom_plan;"
      case .byIndexesKept: Self.indexes + "SET plan_cache_mode = force_generic_plan;"
      }
    }

    // What is left of the ways to join goes row by row, with an index. Costs that are made up are worth no compiler.
    private static let indexes = """
      SET enable_seqscan = off; SET enable_bitmapscan = off;
      SET enable_hashjoin = off; SET enable_mergejoin = off;
      SET max_parallel_workers_per_gather = 0; SET jit = off;

      """
  }

  /// Has plans made anew that are older than they may be. Within a transaction, which may have failed, they stay.
  func forgetOldPlans() throws(PostgresError) {
    guard let end = plansUntil, end < .now, PQtransactionStatus(handle) == PQTRANS_IDLE else {
      return
    }
    try run(script: "DISCARD PLANS")
    plansUntil = .now + planLife
  }
}
