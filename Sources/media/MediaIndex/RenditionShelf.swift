import Feed
import Glibc
import MediaFiles
import MediaProbe
import System

/// The place of renditions: a folder next to their originals. They are served like any file, and the walk for
/// originals skips the folder. Their names identify the content of the original (`RenditionName`), so a file
/// whose content changes gets other renditions, and a renamed file keeps them. In a bucket they have the same
/// names: an object is read as a whole to make its renditions, and from then on its content is known.
package struct RenditionShelf: Sendable {
  /// The folder's name.
  package static let folderName = "_renditions"
  /// The number of names of a bucket requested at a time; one content has fewer.
  private static let namesAtOnce = 16

  let storage: MediaStorage
  let probe: MediaProbe
  let maker: RenditionMaker?
  let isDry: Bool

  /// The renditions of a file.
  struct Found {
    /// The hash of the original's content, if it was read for the renditions.
    var sha256: [UInt8]?
    /// The renditions' path segments and facts, the smallest first.
    var files: [(segments: [String], truth: MediaTruth)] = []
    var renditions: MediaOutcome.Renditions
  }

  /// Returns the renditions of the file with these path segments and facts, including known variants:
  /// unchanged ones are not read again. If there is a maker, it makes the missing ones.
  ///
  /// - Throws: `ProbeError.cancelled` only; the result contains other problems.
  func renditions(
    of truth: MediaTruth, at segments: [String], _ path: String
  ) throws(ProbeError) -> Found {
    var found = Found(renditions: .init(path: path))
    let ladder = Rendition.ladder(of: truth)
    let folder = Array(segments.dropLast()) + [Self.folderName]
    guard !ladder.isEmpty, segments.dropLast().last != Self.folderName,
      folder.count < MediaRoot.depthLimit
    else { return found }
    var original: OpenFile?
    let sha256: [UInt8]
    var open: Place?
    do {
      if case .content(let known) = truth.version {
        sha256 = known
      } else if maker != nil {
        let opened = try openOriginal(segments, of: truth)
        (original, sha256, found.sha256) = (opened.file, opened.sha256, opened.sha256)
      } else {
        return found
      }
      open = try place(folder, ofContent: sha256)
    } catch ProbeError.cancelled {
      throw .cancelled
    } catch {
      found.renditions.problems.append("its renditions cannot be read: \(error)")
      return found
    }
    guard open != nil || maker != nil else { return found }
    for rendition in ladder {
      let name = RenditionName(rendition, ofContent: sha256).text
      do {
        let there = try open.map { try look(in: $0, folder + [name], rendition, of: truth) }
        switch there ?? .missing {
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
        let file = try original ?? openOriginal(segments, of: truth).file
        original = file
        let shelf = try open ?? makeFolder(beside: segments)
        open = shelf
        if let truth = try make(rendition, folder + [name], in: shelf, of: file, truth, maker) {
          found.renditions.made.append(rendition)
          found.files.append((folder + [name], truth))
        } else {
          found.renditions.dropped += 1
        }
      } catch RenditionError.unreadable(.cancelled) {
        throw .cancelled
      } catch ProbeError.cancelled {
        throw .cancelled
      } catch {
        found.renditions.problems.append(
          "its rendition \(rendition.width) × \(rendition.height) is missing: \(error)")
      }
    }
    found.files.sort { $0.truth.bytes < $1.truth.bytes }
    return found
  }

  /// The place of a content's renditions.
  private enum Place {
    case folder(OpenFolder)
    /// The existing renditions by name.
    case objects(MediaBucket, [String: MediaStatus])
  }

  /// Returns nil if there is no such folder.
  private func place(
    _ folder: [String], ofContent sha256: [UInt8]
  ) throws(MediaError) -> Place? {
    switch storage {
    case .folder(let root):
      do throws(MediaError) {
        return .folder(try root.openFolder(folder))
      } catch {
        guard case .notFound = error else { throw error }
        return nil
      }
    case .bucket(let bucket):
      let content = RenditionName.content(sha256)
      var objects = MediaObjects(
        bucket, below: folder, after: folder + [content], atOnce: Self.namesAtOnce)
      var found: [String: MediaStatus] = [:]
      while let object = try objects.next(), let name = object.segments.last,
        object.segments.count == folder.count + 1, name.utf8.starts(with: content.utf8)
      {
        found[name] = object.status
      }
      return .objects(bucket, found)
    }
  }

  /// The state of a rendition.
  private enum State {
    case there(MediaTruth)
    /// The rendition would save too little.
    case noUse
    case missing
  }

  private func look(
    in place: Place, _ segments: [String], _ rendition: Rendition, of original: MediaTruth
  ) throws -> State {
    let name = segments.last ?? ""
    guard let bytes = try bytes(of: name, in: place) else {
      return try bytes(of: name + RenditionName.droppedSuffix, in: place) == nil ? .missing : .noUse
    }
    let known = original.variants.first { variant in
      variant.url.utf8.suffix(name.utf8.count + 1).elementsEqual(("/" + name).utf8)
        && variant.truth.bytes == bytes
    }
    if let known { return .there(known.truth) }
    let file: OpenFile?
    switch place {
    case .folder(let folder):
      file = try folder.file(named: name, purpose: "read the rendition \(name)")
    case .objects(let bucket, _): file = try ObjectProbe(bucket, probe).whole(of: segments).file
    }
    guard let file else { return .missing }
    do throws(RenditionError) {
      return try probe.look(at: file, rendition, of: original).map(State.there) ?? .noUse
    } catch {
      // The maker replaces it.
      if maker != nil { return .missing }
      throw error
    }
  }

  /// Returns the size of a rendition; nil if there is none.
  private func bytes(of name: String, in place: Place) throws(SystemError) -> Int? {
    switch place {
    case .objects(_, let found): return found[name]?.bytes
    case .folder(let folder):
      do throws(SystemError) {
        let status = try folder.status(of: name, purpose: "inspect the rendition \(name)")
        return status.isRegularFile ? status.bytes : nil
      } catch {
        if error.code == ENOENT { return nil }
        throw error
      }
    }
  }

  private func makeFolder(beside segments: [String]) throws -> Place {
    switch storage {
    case .folder(let root):
      return .folder(
        try root.openFolder(segments.dropLast()).makeFolder(
          named: Self.folderName, purpose: "make the folder \(Self.folderName) next to it"))
    case .bucket(let bucket): return .objects(bucket, [:])
    }
  }

  /// Opens the whole original; throws if it no longer has the version of these facts.
  private func openOriginal(
    _ segments: [String], of truth: MediaTruth
  ) throws -> (file: OpenFile, sha256: [UInt8]) {
    let file: OpenFile
    var version: MediaVersion?
    switch storage {
    case .folder(let root): file = try root.open(segments)
    case .bucket(let bucket):
      let object = try ObjectProbe(bucket, probe).whole(of: segments)
      file = object.file
      version = object.version
    }
    let sha256 = try probe.digest(of: file)
    guard let known = truth.version, [.content(sha256: sha256), version].contains(known) else {
      throw RenditionError.unreadable(.changed)
    }
    return (file, sha256)
  }

  /// Makes a rendition with the permissions of the original. It gets its name only when it is complete and on
  /// disk. Returns nil if it is of no use, which is recorded.
  private func make(
    _ rendition: Rendition, _ segments: [String], in place: Place, of file: OpenFile,
    _ original: MediaTruth, _ maker: RenditionMaker
  ) throws -> MediaTruth? {
    switch place {
    case .folder(let folder):
      return try make(
        rendition, named: segments.last ?? "", in: folder, of: file, original, maker)
    case .objects(let bucket, _):
      let output = try ScratchFile(folder: probe.remoteLimits.scratchFolder).descriptor
      let truth = try maker.make(rendition, of: file, original, to: output)
      if truth == nil { try output.cut(to: 0) }
      guard let made = OpenFile(output) else { throw ProbeError.notAFile }
      let name = (segments.last ?? "") + (truth == nil ? RenditionName.droppedSuffix : "")
      // A concurrent maker of the same rendition writes the same bytes.
      try bucket.place(
        made, at: Array(segments.dropLast()) + [name], type: rendition.mimeType,
        sha256: probe.digest(of: made), over: nil, isConditional: false)
      return truth
    }
  }

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
