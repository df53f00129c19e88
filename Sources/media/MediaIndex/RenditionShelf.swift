import Feed
import Glibc
import MediaFiles
import MediaProbe
import System

/// Where renditions lie: in a folder beside their originals, from which they are served as any file is, and
/// which is not gone through for originals. Their names say of which content they are renditions
/// (`RenditionName`): a file whose content changes has others, and one that is only renamed has the same.
package struct RenditionShelf: Sendable {
  /// What the folder is called.
  package static let folderName = "_renditions"

  let root: MediaRoot
  let probe: MediaProbe
  let maker: RenditionMaker?
  let isDry: Bool

  /// What there is of a file.
  struct Found {
    /// The renditions' path segments, and the facts about them; the smallest first.
    var files: [(segments: [String], truth: MediaTruth)] = []
    var renditions: MediaOutcome.Renditions
  }

  /// The renditions of the file with these path segments, of which this is known, its variants among it:
  /// those that look as they did are not read again. Those that are missing are made where there is a maker.
  ///
  /// - Throws: `ProbeError.cancelled`, and nothing else: what is wrong is said in what is returned.
  func renditions(
    of truth: MediaTruth, at segments: [String], _ path: String
  ) throws(ProbeError) -> Found {
    var found = Found(renditions: .init(path: path))
    let ladder = Rendition.ladder(of: truth)
    let folder = Array(segments.dropLast()) + [Self.folderName]
    guard case .content(let sha256) = truth.version, !ladder.isEmpty,
      segments.dropLast().last != Self.folderName, folder.count < MediaRoot.depthLimit
    else { return found }
    var open: OpenFolder?
    do throws(MediaError) {
      open = try root.openFolder(folder)
    } catch {
      guard case .notFound = error else {
        found.renditions.problems.append("its renditions cannot be looked at: \(error)")
        return found
      }
      guard maker != nil else { return found }
    }
    var original: OpenFile?
    for rendition in ladder {
      let name = RenditionName(rendition, ofContent: sha256).text
      do {
        switch try open.map({ try look(in: $0, name, rendition, of: truth) }) ?? .missing {
        case .there(let truth):
          found.renditions.kept += 1
          found.files.append((folder + [name], truth))
          continue
        case .noUse:
          found.renditions.dropped += 1
          continue
        case .missing: break
        }
        guard let maker else { continue }
        if isDry {
          found.renditions.made.append(rendition)
          continue
        }
        let file = try original ?? openOriginal(segments, sha256)
        original = file
        let shelf = try open ?? makeFolder(beside: segments)
        open = shelf
        if let truth = try make(rendition, named: name, in: shelf, of: file, truth, maker) {
          found.renditions.made.append(rendition)
          found.files.append((folder + [name], truth))
        } else {
          found.renditions.dropped += 1
        }
      } catch RenditionError.unreadable(.cancelled) {
        throw .cancelled
      } catch {
        found.renditions.problems.append(
          "its rendition \(rendition.width) × \(rendition.height) is missing: \(error)")
      }
    }
    found.files.sort { $0.truth.bytes < $1.truth.bytes }
    return found
  }

  /// What is in a rendition's place.
  private enum Place {
    case there(MediaTruth)
    /// It would save too little.
    case noUse
    case missing
  }

  private func look(
    in folder: OpenFolder, _ name: String, _ rendition: Rendition, of original: MediaTruth
  ) throws -> Place {
    guard let status = try status(of: name, in: folder) else {
      return try status(of: name + RenditionName.droppedSuffix, in: folder) == nil
        ? .missing : .noUse
    }
    let known = original.variants.first { variant in
      variant.url.utf8.suffix(name.utf8.count + 1).elementsEqual(("/" + name).utf8)
        && variant.truth.bytes == status.bytes
    }
    if let known { return .there(known.truth) }
    guard let file = try folder.file(named: name, purpose: "read the rendition \(name)") else {
      return .missing
    }
    do throws(RenditionError) {
      return try probe.look(at: file, rendition, of: original).map(Place.there) ?? .noUse
    } catch {
      // The maker of renditions makes it again.
      if maker != nil { return .missing }
      throw error
    }
  }

  private func status(of name: String, in folder: OpenFolder) throws(SystemError) -> FileStatus? {
    do throws(SystemError) {
      let status = try folder.status(of: name, purpose: "look at the rendition \(name)")
      return status.isRegularFile ? status : nil
    } catch {
      if error.code == ENOENT { return nil }
      throw error
    }
  }

  private func makeFolder(beside segments: [String]) throws -> OpenFolder {
    try root.openFolder(segments.dropLast()).makeFolder(
      named: Self.folderName, purpose: "make the folder \(Self.folderName) beside it")
  }

  private func openOriginal(_ segments: [String], _ sha256: [UInt8]) throws -> OpenFile {
    let file = try root.open(segments)
    guard try probe.digest(of: file) == sha256 else {
      throw RenditionError.unreadable(.changed)
    }
    return file
  }

  /// Makes a rendition: it gets its name when it is whole and on the disk, or not at all, and readers of the
  /// original may read it. Nil if it is of no use, which is recorded.
  private func make(
    _ rendition: Rendition, named name: String, in folder: OpenFolder, of file: OpenFile,
    _ original: MediaTruth, _ maker: RenditionMaker
  ) throws -> MediaTruth? {
    let partial = name + RenditionName.partialSuffix
    let purpose = "make \(Self.folderName)/\(name)"
    guard let output = try folder.makeFile(named: partial, purpose: purpose) else {
      throw RenditionError.isBeingMade
    }
    do {
      let truth = try maker.make(rendition, of: file, original, to: output)
      guard try file.isAsOpened else { throw RenditionError.unreadable(.changed) }
      if truth == nil { try output.cut(to: 0) }
      try output.setPermissions(file.status.permissions)
      try output.sync()
      let finished = truth == nil ? name + RenditionName.droppedSuffix : name
      try folder.rename(partial, to: finished, purpose: purpose)
      try folder.sync()
      return truth
    } catch {
      folder.remove(partial)
      throw error
    }
  }
}
