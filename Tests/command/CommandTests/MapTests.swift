import Foundation
import TestSupport
import Testing

/// The map in ARCHITECTURE.md is the one that the package has.
@Suite struct MapTests {
  private static let root = Repository.root

  /// What the toolchain brings: everybody may import it.
  private static let toolchain: Set = [
    "Swift", "Foundation", "Glibc", "Dispatch", "Synchronization",
  ]

  /// Modules of other packages, and what the map calls them.
  private static let others = [
    "Logging": "swift-log", "CoreMetrics": "swift-metrics", "DequeModule": "swift-collections",
    "HashTreeCollections": "swift-collections", "GRDB": "GRDB", "GRDBSQLite": "SQLite",
    "ArgumentParser": "ArgumentParser", "CCrypto": "libcrypto", "CCurl": "libcurl", "CZlib": "zlib",
    "CBrotli": "brotli", "CZstd": "zstd", "CExpat": "expat", "CPostgres": "libpq",
    "CLinux": "`CLinux`", "CXXHash": "`CXXHash`", "CEmbedded": "`CEmbedded`",
  ]

  /// A row of the map.
  private struct Row {
    let module: String
    let mayDependOn: String
  }

  private static let rows: [Row] = {
    let text = try! String(
      contentsOf: root.appendingPathComponent("ARCHITECTURE.md"), encoding: .utf8)
    let table = text.components(
      separatedBy: "| module | what it is | may depend on |\n|---|---|---|\n")[1]
    return table.split(separator: "\n", omittingEmptySubsequences: false)
      .prefix { $0.hasPrefix("|") }
      .map { line in
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        return Row(module: cells[0].filter { $0 != "`" }, mayDependOn: cells[2])
      }
  }()

  /// The modules in Swift, and what their files import but for the toolchain's.
  private static let imports = imports(in: "Sources")
    .merging(["Migrations": ["CEmbedded"]]) { _, named in named }

  /// The modules in the floors of a folder, and what their files import but for the toolchain's.
  private static func imports(in folder: String) -> [String: Set<String>] {
    let sources = root.appendingPathComponent(folder)
    var imports: [String: Set<String>] = [:]
    let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)!
    for case let file as URL in files where file.pathExtension == "swift" {
      // Behind its floor.
      let path = file.path.dropFirst(sources.path.count + 1).split(separator: "/")
      guard path.count > 2 else { continue }
      let module = path[1]
      let text = try! String(contentsOf: file, encoding: .utf8)
      let names = text.matches(
        of: /^(?:@?\w+ )?import (?:struct |class |enum |func |protocol )?(\w+)/
          .anchorsMatchLineEndings()
      ).map { String($0.output.1) }
      imports[String(module), default: []].formUnion(names)
    }
    return imports.mapValues { $0.subtracting(toolchain) }
  }

  /// The modules of a floor; none of another name.
  private static func modules(floor: String) -> [String] {
    let folder = root.appendingPathComponent("Sources/\(floor)").path
    return (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  }

  @Test func `the map has every module and no other`() {
    #expect(Self.rows.map(\.module).sorted() == Self.imports.keys.sorted())
  }

  @Test func `each module imports what the map says, all of it, and from rows above`() {
    var above: Set<String> = []
    for row in Self.rows {
      let imported = Self.imports[row.module] ?? []
      let ours = imported.intersection(Self.imports.keys)
      let named = Set(imported.map { Self.others[$0] ?? "`\($0)`" })
      #expect(ours.isSubset(of: above), "\(row.module) imports \(ours.subtracting(above))")
      // What is said of a name in brackets is not a name.
      let cell = row.mayDependOn.replacing(/\([^)]*\)/, with: "")
      if cell.hasPrefix("all above") {
        let rest = cell.components(separatedBy: "but").dropFirst().joined()
        let names = rest.matches(of: /`(\w+)`/).map { String($0.output.1) }
        // A floor stands for its modules.
        let excluded = Set((names + names.flatMap(Self.modules)).map { "`\($0)`" })
        let wrong = named.intersection(excluded).sorted()
        #expect(wrong == [], "\(row.module) may not depend on them")
      } else {
        let allowed =
          cell == "nothing"
          ? [] : Set(cell.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
        let (unnamed, unused) = (
          named.subtracting(allowed).sorted(), allowed.subtracting(named).sorted()
        )
        #expect(unnamed == [], "\(row.module) imports them, and its row does not name them")
        #expect(unused == [], "the row of \(row.module) names them, and no file of it imports them")
      }
      above.insert(row.module)
    }
  }

  @Test func `a module imports from its own floor and from those below`() throws {
    let package = try String(
      contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
    let floors = package.matches(of: /let (\w+) = Floor\(/).map { String($0.output.1) }
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: Self.root.appendingPathComponent("Sources").path)
    #expect(Set(folders) == Set(floors))
    var heights = ["Migrations": try #require(floors.firstIndex(of: "stores"))]
    for (height, floor) in floors.enumerated() {
      let modules = try FileManager.default.contentsOfDirectory(
        atPath: Self.root.appendingPathComponent("Sources/\(floor)").path)
      for module in modules { heights[module] = height }
    }
    for (module, imported) in Self.imports {
      let height = try #require(heights[module])
      for name in imported {
        #expect(heights[name] ?? 0 <= height, "\(module) imports \(name)")
      }
    }
  }

  @Test func `each target names what its files import`() throws {
    let declared = try Self.declaredDependencies(in: "Package.swift")
    for (module, imported) in Self.imports {
      let named = try #require(declared[module], "Package.swift has no target \(module)")
      let (unnamed, unused) = (
        imported.subtracting(named).sorted(), named.subtracting(imported).sorted()
      )
      #expect(unnamed == [], "\(module) imports them, and its target does not name them")
      #expect(unused == [], "the target \(module) names them, and no file of it imports them")
    }
  }

  /// Otherwise a build after a change of such a module may leave the tests as they were: with other layouts
  /// of its types, they crash or hang.
  @Test func `each target of tests names what its files import`() throws {
    let declared = try Self.declaredDependencies(in: "Package.swift")
    let known = Set(declared.keys)
    let targets = Self.imports(in: "Tests").filter { $0.key.hasSuffix("Tests") }
    #expect(targets.count >= 30)
    for (target, imported) in targets {
      let named = try #require(declared[target], "Package.swift has no target \(target)")
      let unnamed = imported.intersection(known).subtracting(named).sorted()
      #expect(unnamed == [], "\(target) imports them, and Package.swift does not name them")
    }
  }

  @Test func `the package of the fuzzers names what the modules that it builds import`() throws {
    let declared = try Self.declaredDependencies(in: "Tests/Fuzz/Package.swift")
      .filter { Self.imports.keys.contains($0.key) }
    #expect(declared.count >= 8)
    for (module, names) in declared {
      #expect(names == Self.imports[module], "\(module)")
      let missing = names.intersection(Self.imports.keys).subtracting(declared.keys)
      #expect(missing.isEmpty, "\(module)")
    }
  }

  /// The targets of a package's file, and what each names as its dependencies.
  private static func declaredDependencies(in path: String) throws -> [String: Set<String>] {
    let package = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    var products: [String: String] = [:]
    for match in package.matches(of: /let (\w+) = Target.Dependency.product\(\s*name: "(\w+)"/) {
      products[String(match.output.1)] = String(match.output.2)
    }
    let targets = package.matches(
      of:
        /(?:\.module\(|\.tests\(|arget\(\s*name:)\s*"(\w+)"(?:,\s*(?:dependencies: )?\[([^\]]*)\])?/
    )
    var declared: [String: Set<String>] = [:]
    for match in targets {
      let names = (match.output.2 ?? "").split { ", \n".contains($0) }.map { name in
        products[String(name)] ?? name.trimmingCharacters(in: ["\""])
      }
      declared[String(match.output.1)] = Set(names)
    }
    return declared
  }

  @Test func `each folder of tests is a target of its floor, so that its tests are run`() throws {
    let package = try Repository.text("Package.swift")
    let targets = package.matches(of: /(\w+)\.tests\(\s*"(\w+)"/)
      .map { "\($0.output.1)/\($0.output.2)" }
    let floors = try FileManager.default.contentsOfDirectory(atPath: Repository.url("Tests").path)
    let folders = floors.flatMap { floor in
      let inside = try? FileManager.default.contentsOfDirectory(
        atPath: Repository.url("Tests/\(floor)").path)
      return (inside ?? []).filter { $0.hasSuffix("Tests") }.map { "\(floor)/\($0)" }
    }
    #expect(folders.sorted() == targets.sorted())
  }
}
