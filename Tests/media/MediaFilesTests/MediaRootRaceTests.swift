import Foundation
import Glibc
import MediaFiles
import Synchronization
import TestSupport
import Testing

struct MediaRootRaceTests {
  /// What is swapped in the root, the link that takes its place, and the path that is asked for.
  @Test(arguments: [
    (name: "album", link: "out", segments: ["album", "one.png"], content: "album/one.png"),
    (name: "photo.jpg", link: "out.png", segments: ["photo.jpg"], content: "photo.jpg"),
  ])
  func `what is swapped for a link while it is opened never shows what is outside`(
    _ race: (name: String, link: String, segments: [String], content: String)
  ) throws {
    let folder = try MediaFolder()
    let root = try MediaRoot(path: folder.rootPath)
    let swaps = Swaps(in: folder.rootPath, race.name, race.link)
    Thread.detachNewThread { swaps.run(count: 4000) }
    repeat {
      do throws(MediaError) {
        let file = try root.open(race.segments)
        #expect((try? file.text()) == race.content)
      } catch {
        #expect(error == .notFound(.noSuchFile))
      }
    } while !swaps.areDone.load(ordering: .acquiring)
    #expect(swaps.failures.load(ordering: .relaxed) == 0)
    #expect(folder.descriptorCount == 0)
  }
}

/// Puts a link in a name's place and back.
private final class Swaps: Sendable {
  let areDone = Atomic(false)
  let failures = Atomic(0)
  private let name: String
  private let link: String
  private let aside: String

  init(in folder: String, _ name: String, _ link: String) {
    self.name = "\(folder)/\(name)"
    self.link = "\(folder)/\(link)"
    aside = "\(folder)/aside"
  }

  func run(count: Int) {
    for _ in 0..<count {
      for (from, to) in [(name, aside), (link, name), (name, link), (aside, name)]
      where rename(from, to) != 0 {
        failures.add(1, ordering: .relaxed)
      }
    }
    areDone.store(true, ordering: .releasing)
  }
}
