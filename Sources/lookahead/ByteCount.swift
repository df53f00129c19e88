import Foundation

/// Sizes as a person reads them.
enum ByteCount {
  private static let units = ["KB", "MB", "GB", "TB"]

  /// For example `512 bytes`, `1.5 MB`; a KB has 1000 bytes.
  static func text(_ bytes: Int) -> String {
    var value = Double(bytes)
    var unit = "bytes"
    for next in units where value >= 1000 {
      value /= 1000
      unit = next
    }
    return unit == "bytes" ? "\(bytes) bytes" : String(format: "%.1f \(unit)", value)
  }
}
