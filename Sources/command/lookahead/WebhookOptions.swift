import ArgumentParser
import FeedServer
import Foundation

/// The targets that are told of changes.
struct WebhookOptions: ParsableArguments {
  @Option(
    help:
      "File of targets to notify of changes: lines of NAME URL SECRET [SECRET] [batch=N]."
  )
  var webhooks: String?

  @Flag(
    "webhook-allow-private",
    "Allow webhooks with private addresses: this machine, and its networks.")
  var webhookAllowPrivate: Bool

  mutating func validate() throws { webhooks = webhooks ?? Environment.text("webhooks") }

  /// The targets; none without a file.
  ///
  /// - Throws: `ValidationError`.
  func targets() throws -> [WebhookTarget] {
    guard let webhooks else { return [] }
    guard let bytes = FileManager.default.contents(atPath: webhooks) else {
      throw ValidationError("--webhooks: \(webhooks) cannot be read")
    }
    do throws(WebhookFileError) {
      return try WebhookFile.targets(
        in: String(decoding: bytes, as: UTF8.self), allowsPrivateAddresses: webhookAllowPrivate)
    } catch {
      throw ValidationError("\(webhooks): \(error)")
    }
  }
}
