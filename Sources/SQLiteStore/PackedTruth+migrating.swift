import Feed
import Foundation
import GRDB
import PostJSON
import RowStore

extension PackedTruth {
  /// What migration 0012 calls to pack what was JSON before it. What cannot be read stays as it is: that is no
  /// form that there is, so pages do without it and `check` reports it.
  static let migrating = [
    function("packed_truth") { try bytes(of: MediaTruth(json: $0)) },
    function("packed_variants") { try bytes(of: MediaVariant.list(json: $0)) },
  ]

  private static func function(
    _ name: String, _ pack: @escaping @Sendable ([UInt8]) throws -> [UInt8]
  ) -> DatabaseFunction {
    DatabaseFunction(name, argumentCount: 1, pure: true) { values in
      guard let json = String.fromDatabaseValue(values[0]) else { return nil }
      let bytes = Array(json.utf8)
      return Data((try? pack(bytes)) ?? bytes)
    }
  }
}
