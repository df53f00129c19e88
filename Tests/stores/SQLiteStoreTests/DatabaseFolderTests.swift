import SQLiteStore
import Testing

@Suite struct DatabaseFolderTests {
  @Test func `the folder of a path is what dirname has`() {
    let cases = [
      ("d", "."), ("", "."), (".", "."), ("..", "."), ("é", "."), ("d/", "."), ("a/b", "a"),
      ("a//b", "a"), ("a/b/", "a"), ("a/b/c", "a/b"), ("./d", "."), ("../d", ".."), ("/d", "/"),
      ("/", "/"), ("//", "/"), ("//d", "/"), ("/a/d", "/a"), ("a/\u{301}b", "a"),
    ]
    for (path, folder) in cases {
      #expect(DatabaseFile.folder(of: path).utf8.elementsEqual(folder.utf8), "\(path)")
    }
  }
}
