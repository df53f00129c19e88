/// What `/proc/self/stat` says (`proc_pid_stat(5)`).
struct ProcessStatus: Equatable {
  var processorTicks: Int
  var threads: Int
  /// Since the machine was started.
  var startTicks: Int
  var virtualBytes: Int
  var residentPages: Int

  /// Reads the line; `nil` where it is not as it should be.
  ///
  /// The second field is the program's name between parentheses and may hold spaces and parentheses
  /// itself, so the fields are counted from the last closing one.
  init?(stat: String) {
    guard let end = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: end)...].split(whereSeparator: \.isWhitespace)
    /// A field by its number in the manual, where the first after the name is the third.
    func field(_ number: Int) -> Int? {
      fields.indices.contains(number - 3) ? Int(fields[number - 3]) : nil
    }
    guard let user = field(14), let system = field(15), let threads = field(20),
      let start = field(22), let virtualBytes = field(23), let residentPages = field(24)
    else { return nil }
    processorTicks = user + system
    self.threads = threads
    startTicks = start
    self.virtualBytes = virtualBytes
    self.residentPages = residentPages
  }

  /// When the machine was started, in seconds since 1970, from `/proc/stat` (`proc_stat(5)`).
  static func bootSeconds(stat: String) -> Int? {
    for line in stat.split(separator: "\n") where line.hasPrefix("btime ") {
      return Int(line.dropFirst("btime ".count))
    }
    return nil
  }
}
