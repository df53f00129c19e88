import CCrypto

/// SHA-256 (FIPS 180-4) by OpenSSL's libcrypto, which PostgreSQL's client library depends on.
package struct SHA256: ~Copyable {
  /// The length of a digest, in bytes.
  package static let byteCount = 32

  private let context: OpaquePointer

  /// A digest of no bytes yet.
  package init() {
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      preconditionFailure("libcrypto has no memory or no SHA-256")
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

  /// The digest of the added bytes: 32 bytes.
  package consuming func finalize() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.byteCount) { digest, count in
      precondition(EVP_DigestFinal_ex(context, digest.baseAddress, nil) == 1)
      count = Self.byteCount
    }
  }

  /// The digest of these bytes: 32 bytes.
  package static func hash(_ bytes: [UInt8]) -> [UInt8] {
    var hash = SHA256()
    hash.update(bytes)
    return hash.finalize()
  }

  /// The HMAC-SHA-256 (RFC 2104) of these bytes: 32 bytes.
  package static func authenticationCode(for bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: byteCount) { code, count in
      let made = HMAC(
        EVP_sha256(), key, Int32(key.count), bytes, bytes.count, code.baseAddress, nil)
      precondition(made != nil)
      count = byteCount
    }
  }
}
