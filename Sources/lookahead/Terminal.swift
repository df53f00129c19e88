import Foundation
import Observability

/// A line on standard output, for a person: in this module every `print` is this one, so that what a
/// stranger's names hold never reaches a terminal as it is.
func print(_ text: String) {
  Swift.print(text.escapedForTerminal())
}

/// A line on standard error, for a person.
func printError(_ text: String) {
  FileHandle.standardError.write(Data((text.escapedForTerminal() + "\n").utf8))
}
