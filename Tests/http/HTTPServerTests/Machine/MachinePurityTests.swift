import Foundation
import TestSupport
import Testing

/// The machine is what it says: a value without I/O and clocks.
struct MachinePurityTests {
  @Test func `the machine's files know HTTP and nothing of the system`() throws {
    let folder = Repository.url("Sources/http/HTTPServer/Machine")
    let files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: nil)
    #expect(files.count >= 5)
    for file in files {
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      let imports = lines.filter { $0.hasPrefix("import ") }.map { $0.dropFirst(7) }
      #expect(
        Set(imports).isSubset(of: ["HTTP", "DequeModule"]), "\(file.lastPathComponent): \(imports)")
      for word in ["Clock", "Socket", "EventLoop", "Date(", "Logger"] {
        let used = lines.filter { $0.contains(word) && !$0.contains("///") && !$0.contains("//") }
        #expect(used.isEmpty, "\(file.lastPathComponent): \(used)")
      }
    }
  }
}
