import CLibFuzzer
import Foundation
import Properties

// libFuzzer takes the arguments, and starts this program again with others, so that the name of the
// target comes in a variable.
let variable = "LOOKAHEAD_FUZZ_TARGET"
guard let name = ProcessInfo.processInfo.environment[variable],
  let chosen = FuzzTarget(rawValue: name)
else {
  let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
  FileHandle.standardError.write(Data("\(variable) must be one of \(names)\n".utf8))
  exit(2)
}

/// What libFuzzer calls, a C function that captures nothing.
let target = chosen
var argumentCount = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(
  LLVMFuzzerRunDriver(&argumentCount, &arguments) { start, count in
    if let fault = target.fault(in: Array(UnsafeBufferPointer(start: start, count: count))) {
      fatalError("\(target.rawValue): \(fault)")
    }
    return 0
  })
