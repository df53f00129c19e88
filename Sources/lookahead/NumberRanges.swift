import ArgumentParser

/// What the number of an option may be: the one place that says so, for every option that is one.
///
/// The upper ends keep every sum and product that the program makes of them within 64 bits, and what it
/// takes of threads and files within what a machine has. README shows them; `NumberRangeTests` holds both
/// against each other.
enum NumberRanges {
  private static let day = 86_400
  private static let tenYears = 3_650 * day
  private static let dayMilliseconds = day * 1_000
  private static let gibibyte = 1 << 30
  private static let tebibyte = 1 << 40

  /// By the option's name without its dashes.
  static let byOption: [String: ClosedRange<Int>] = [
    "answer-timeout-milliseconds": 1...dayMilliseconds,
    "backup-interval-seconds": 1...tenYears,
    "backups-kept": 1...1_000_000,
    "batch-records": 1...1_000_000,
    "body-bytes": 1...gibibyte,
    "body-read-timeout-milliseconds": 1...dayMilliseconds,
    "busy-timeout-milliseconds": 0...dayMilliseconds,
    "cache-max-age-seconds": 0...tenYears,
    "cache-stale-while-revalidate-seconds": 0...tenYears,
    "checkpoint-interval-seconds": 1...day,
    "compression-minimum-bytes": 0...gibibyte,
    "discarded-body-bytes": 0...gibibyte,
    "drain-grace-milliseconds": 0...dayMilliseconds,
    "drain-timeout-milliseconds": 0...dayMilliseconds,
    "encoded-memory-bytes": 0...tebibyte,
    "event-loops": 1...128,
    "generate": 1...1_000_000_000,
    "header-block-bytes": 1...(1 << 20),
    "header-fields": 1...10_000,
    "header-read-timeout-milliseconds": 1...dayMilliseconds,
    "held-answer-bytes": 1...tebibyte,
    "idempotency-keep-seconds": 1...tenYears,
    "idle-timeout-milliseconds": 1...dayMilliseconds,
    "import-bytes": 1...(1 << 50),
    "item-file-bytes": 0...tebibyte,
    "keep-posts": 0...1_000_000_000,
    "kept-rankings": 1...1_000_000,
    "kept-rankings-seconds": 0...tenYears,
    "log-buffer-bytes": 4_096...gibibyte,
    "maximum-connections": 1...1_000_000,
    "maximum-idempotency-keys": 1...1_000_000_000,
    "maximum-imports": 1...64,
    "maximum-kept-moves": 1...1_000_000_000,
    "maximum-waiting-writes": 1...1_000_000,
    "media-max-age-seconds": 0...tenYears,
    "minimum-answer-bytes-per-second": 0...gibibyte,
    "minimum-body-bytes-per-second": 0...gibibyte,
    // Times before the year 0 cannot be told.
    "older-than": 0...700_000,
    "pipelining-depth": 1...10_000,
    "port": 0...65_535,
    "rate-limit-clients": 1...100_000_000,
    "record-limit-bytes": 1...gibibyte,
    "refresh-interval-milliseconds": 1...dayMilliseconds,
    "request-burst": 1...1_000_000_000,
    "request-line-bytes": 1...(1 << 20),
    // At most one a nanosecond can be counted.
    "requests-per-second": 0...1_000_000_000,
    "timeout-milliseconds": 1...dayMilliseconds,
    "wal-limit-bytes": (1 << 20)...tebibyte,
    "worker-queue": 1...1_000_000,
    "worker-threads": 1...128,
    "write-stall-timeout-milliseconds": 1...dayMilliseconds,
  ]
}

extension Setting {
  /// What its number may be; nil where it is none.
  var range: ClosedRange<Int>? {
    guard case .number = value else { return nil }
    return NumberRanges.byOption[name]
  }
}

/// Throws for the first setting whose number is outside of its range.
func requireInRange(_ settings: [Setting]) throws {
  for setting in settings {
    guard case .number(let number) = setting.value, let range = setting.range else { continue }
    if number < range.lowerBound {
      throw ValidationError("--\(setting.name): \(number) is less than \(range.lowerBound)")
    }
    if number > range.upperBound {
      throw ValidationError("--\(setting.name): \(number) is more than \(range.upperBound)")
    }
  }
}
