import CCrypto

/// SHA-512 (FIPS 180-4), like `SHA256`.
package struct SHA512: ~Copyable {
  /// The length of a digest, in bytes.
  package static let byteCount = 64

  private let context: OpaquePointer

  /// A digest of no bytes yet.
  package init() {
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha512(), nil) == 1 else {
      preconditionFailure("libcrypto has no memory or no SHA-512")
    }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  /// Adds bytes to the digest.
  package mutating func update(_ bytes: borrowing [UInt8]) {
    let count = bytes.count
    let isTaken = bytes.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, count) }
    precondition(isTaken == 1)
  }

  /// The digest of the added bytes: 64 bytes.
  package consuming func finalize() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.byteCount) { digest, count in
      precondition(EVP_DigestFinal_ex(context, digest.baseAddress, nil) == 1)
      count = Self.byteCount
    }
  }
}
