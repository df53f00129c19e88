import Foundation
import PrefetchClient

// sample URL FOLDER: the sample of docs/client.md, on a server.
guard CommandLine.arguments.count == 3, let server = URL(string: CommandLine.arguments[1]) else {
  print("usage: Sample URL FOLDER")
  exit(64)
}
let figures = try await watchFeed(
  of: server, keptIn: URL(fileURLWithPath: CommandLine.arguments[2]))
print("\(figures.items) items, \(figures.bytes) bytes, \(figures.requests) requests")
