import Observability
import Testing

struct TerminalTextTests {
  @Test(arguments: [
    ("", ""), ("plain é 😀 \\ \"q\" ไทย", "plain é 😀 \\ \"q\" ไทย"),
    ("a\u{1b}[31mred", "a\\u001b[31mred"), ("\0\u{7}\u{8}\t\r\n", "\\u0000\\u0007\\b\\t\\r\\n"),
    ("\u{7f}", "\\u007f"), ("\u{9b}2J\u{85}\u{a0}", "\\u009b2J\\u0085\u{a0}"),
    ("a\u{202e}b\u{202a}\u{2066}\u{2069}", "a\\u202eb\\u202a\\u2066\\u2069"),
    ("\u{2028}\u{2029}", "\\u2028\\u2029"),
  ])
  func `what a terminal takes for a command is written as an escape`(
    _ text: String, _ escaped: String
  ) {
    #expect(text.escapedForTerminal() == escaped)
    let lines = text.contains("\n") ? escaped.replacing("\\n", with: "\n") : escaped
    #expect(text.escapedForTerminal(keepsLines: true) == lines)
  }
}
