import Foundation
import Prefetch

// engine STRATEGY HELD ITEMS: goes through so many items with so many in the list, and writes a line of JSON:
// what an event costs, and how much memory there is after a tenth of the way and at its end.

let strategies = Policy.Strategy.usual
let arguments = CommandLine.arguments
guard arguments.count == 4, let strategy = strategies.first(where: { $0.name == arguments[1] }),
  let held = Int(arguments[2]), let count = Int(arguments[3]), held > 0, count > 0
else {
  let names = strategies.map(\.name).joined(separator: "|")
  FileHandle.standardError.write(Data("usage: engine \(names) HELD ITEMS\n".utf8))
  exit(64)
}

/// Bytes of memory that the process has.
func residentBytes() -> Int {
  let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
  return (fields.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4_096
}

var session = Session(strategy, heldItems: held)
session.page(held)
var early = 0
if count > held {
  // Down the feed: the list moves along.
  for item in 0..<count {
    session.look(at: item)
    if item == count / 10 { early = residentBytes() }
  }
} else {
  // Up and down in the list as it is, all of its items but those that would ask for a page.
  for round in 0..<20 {
    for step in 0..<held / 2 { session.look(at: round % 2 == 0 ? step : held / 2 - 1 - step) }
    if round == 2 { early = residentBytes() }
  }
}
print(
  """
  {"strategy":"\(strategy.name)","held":\(session.engine.itemCount),"events":\(session.events),\
  "nanoseconds":\(session.nanoseconds / max(1, session.events)),"early":\(early),"end":\(residentBytes())}
  """)
