import CoreMetrics
import Dispatch
import Synchronization
import Testing

@testable import Observability

extension PrometheusRegistry {
  /// The text without the lines that begin with `#`.
  var samples: [String] { lines.filter { !$0.hasPrefix("#") } }

  var lines: [String] {
    String(decoding: text(), as: UTF8.self).split(separator: "\n").map(String.init)
  }
}

struct PrometheusRegistryTests {
  @Test func `the text of all kinds is exact, and the same whatever the order of making`() {
    let registry = PrometheusRegistry()
    registry.describe("b_seconds", help: "How long.\nReally: \\", bounds: [0.001, 0.01, 1])
    registry.describe("a_total", help: "How many \"a\".")
    let timer = Timer(label: "b_seconds", dimensions: [("route", "/rp/")], factory: registry)
    for milliseconds in [0, 1, 2, 10, 11, 5000] { timer.recordMilliseconds(milliseconds) }
    Meter(label: "c", factory: registry).set(-1.5)
    Counter(label: "a_total", dimensions: [("z", "1"), ("k", "2")], factory: registry)
      .increment(by: 3)
    Counter(label: "a_total", dimensions: [("k", "1")], factory: registry).increment()
    FloatingPointCounter(label: "d_total", factory: registry).increment(by: 0.25)
    Recorder(label: "e", aggregate: false, factory: registry).record(7)
    let expected = """
      # HELP a_total How many "a".
      # TYPE a_total counter
      a_total{k="1"} 1
      a_total{k="2",z="1"} 3
      # HELP b_seconds How long.\\nReally: \\\\
      # TYPE b_seconds histogram
      b_seconds_bucket{route="/rp/",le="0.001"} 2
      b_seconds_bucket{route="/rp/",le="0.01"} 4
      b_seconds_bucket{route="/rp/",le="1"} 5
      b_seconds_bucket{route="/rp/",le="+Inf"} 6
      b_seconds_sum{route="/rp/"} 5.024
      b_seconds_count{route="/rp/"} 6
      # TYPE c gauge
      c -1.5
      # TYPE d_total counter
      d_total 0.25
      # TYPE e gauge
      e 7

      """
    #expect(String(decoding: registry.text(), as: UTF8.self) == expected)
  }

  @Test func `an empty registry has an empty text, also when figures are described`() {
    let registry = PrometheusRegistry()
    registry.describe("a", help: "Nothing.")
    #expect(registry.text().isEmpty)
  }

  @Test
  func `gauges that are read as a whole are told as they are, and no longer once they are not`() {
    let registry = PrometheusRegistry(maximumSeries: 1)
    let sizes = Mutex<[(String, Int)]>([("b", 2), ("a", 1), ("e\u{301}", 3), ("é", 4)])
    registry.gauges("size", help: "How large.") {
      sizes.withLock { $0.map { ([("name", $0.0)], $0.1) } }
    }
    #expect(
      registry.lines == [
        "# HELP size How large.", "# TYPE size gauge", #"size{name="a"} 1"#, #"size{name="b"} 2"#,
        "size{name=\"e\u{301}\"} 3", "size{name=\"é\"} 4",
      ])
    sizes.withLock { $0 = [("b", 5)] }
    #expect(registry.lines.dropFirst(2) == [#"size{name="b"} 5"#])
    registry.endScrapes()
    #expect(registry.text().isEmpty)
  }

  // MARK: Names, labels, numbers

  static let names: [(label: String, name: String)] = [
    ("http_requests_total", "http_requests_total"),
    ("a:b", "a:b"), ("a.b-c d", "a_b_c_d"), ("9lives", "_lives"), ("é", "_"), ("", "_"),
    ("x\ny 1\nz", "x_y_1_z"),
  ]

  @Test(arguments: names)
  func `a name keeps to its grammar`(_ label: String, _ name: String) {
    let registry = PrometheusRegistry()
    Counter(label: label, factory: registry).increment()
    #expect(registry.lines == ["# TYPE \(name) counter", "\(name) 1"])
  }

  static let labels: [(dimensions: [(String, String)], text: String)] = [
    ([("a", "")], #"{a=""}"#),
    ([("a", "x\"y\\z\nw")], #"{a="x\"y\\z\nw"}"#),
    ([("a", "µ\t{},=")], "{a=\"µ\t{},=\"}"),
    ([("b", "1"), ("a", "2")], #"{a="2",b="1"}"#),
    ([("a.b", "1"), ("a-b", "2")], #"{a_b="1"}"#),
    ([("a:b", "1"), ("0", "2")], #"{_="2",a_b="1"}"#),
    ([("le", "1")], #"{le_="1"}"#),
  ]

  @Test(arguments: labels)
  func `a label is escaped, sorted and there once`(
    _ dimensions: [(String, String)], _ text: String
  ) {
    let registry = PrometheusRegistry()
    Counter(label: "n", dimensions: dimensions, factory: registry).increment()
    #expect(registry.samples == ["n\(text) 1"])
  }

  static let numbers: [(Double, String)] = [
    (0, "0"), (-0.0, "0"), (3, "3"), (-2, "-2"), (0.1, "0.1"), (1e14, "100000000000000"),
    (1e15, "1000000000000000"), (1e16, "1e+16"), (1e-7, "1e-07"), (.infinity, "+Inf"),
    (-.infinity, "-Inf"), (.nan, "NaN"),
  ]

  @Test(arguments: numbers)
  func `a number is written so that it reads back`(_ value: Double, _ text: String) throws {
    let registry = PrometheusRegistry()
    Meter(label: "n", factory: registry).set(value)
    #expect(registry.samples == ["n \(text)"])
    #expect(value.isNaN || Double(text.replacing("Inf", with: "infinity")) == value)
  }

  // MARK: Figures

  @Test func `a counter never falls`() {
    let registry = PrometheusRegistry()
    let counter = registry.counter("n_total")
    counter.increment(by: Int64(5))
    counter.increment(by: Int64(-3))
    for amount in [-1, .nan, .infinity] { counter.increment(by: amount) }
    #expect(registry.samples == ["n_total 5"])
    counter.increment(by: 0.5)
    #expect(registry.samples == ["n_total 5.5"])
    counter.reset()
    #expect(registry.samples == ["n_total 0"])
    counter.set(12)
    #expect(registry.samples == ["n_total 12"])
  }

  @Test func `a gauge rises and falls`() {
    let registry = PrometheusRegistry()
    let meter = Meter(label: "n", factory: registry)
    meter.set(10)
    meter.increment(by: 2.5)
    meter.decrement(by: 4)
    #expect(registry.samples == ["n 8.5"])
  }

  @Test func `a recorder's histogram takes any finite value, and a bound is within its bucket`() {
    let registry = PrometheusRegistry()
    registry.describe("n", help: "", bounds: [-1, 0, 2])
    let recorder = Recorder(label: "n", factory: registry)
    for value in [-5, -1, -0.5, 0, 2, 2.5, .nan, .infinity, -.infinity] { recorder.record(value) }
    #expect(
      registry.samples == [
        #"n_bucket{le="-1"} 2"#, #"n_bucket{le="0"} 4"#, #"n_bucket{le="2"} 5"#,
        #"n_bucket{le="+Inf"} 6"#, "n_sum -2", "n_count 6",
      ])
  }

  @Test func `without a description a histogram has the bounds of latencies`() {
    let registry = PrometheusRegistry()
    Timer(label: "n_seconds", factory: registry).recordNanoseconds(Int64(100_000))
    let samples = registry.samples
    #expect(samples.count == PrometheusRegistry.defaultBounds.count + 3)
    #expect(samples.first == #"n_seconds_bucket{le="0.0001"} 1"#)
    #expect(samples.contains(#"n_seconds_bucket{le="10"} 1"#))
    #expect(samples.contains("n_seconds_sum 0.0001"))
  }

  @Test func `the same name and dimensions are the same series, in whichever order`() {
    let registry = PrometheusRegistry()
    Counter(label: "n", dimensions: [("a", "1"), ("b", "2")], factory: registry).increment()
    let second = Counter(label: "n", dimensions: [("b", "2"), ("a", "1")], factory: registry)
    second.increment()
    second.destroy()
    #expect(registry.samples == [#"n{a="1",b="2"} 2"#])
  }

  @Test func `a name is of the kind that came first`() {
    let registry = PrometheusRegistry()
    Counter(label: "n", factory: registry).increment()
    Meter(label: "n", factory: registry).set(9)
    Timer(label: "n", factory: registry).recordSeconds(1)
    #expect(registry.lines == ["# TYPE n counter", "n 1"])
  }

  @Test func `what is read at a scrape is set before the text is made`() {
    let registry = PrometheusRegistry()
    let reads = registry.counter("reads_total")
    registry.onScrape { reads.increment(by: Int64(1)) }
    registry.onScrape { [meter = Meter(label: "m", factory: registry)] in meter.set(4) }
    #expect(registry.samples == ["m 4", "reads_total 1"])
    #expect(registry.samples == ["m 4", "reads_total 2"])
    registry.endScrapes()
    #expect(registry.samples == ["m 4", "reads_total 2"])
  }

  // MARK: Bounds and threads

  @Test func `beyond the limit dimensions share a series and new names are not written`() {
    let registry = PrometheusRegistry(maximumSeries: 3)
    for number in 1...5 {
      Counter(label: "n", dimensions: [("id", "\(number)")], factory: registry)
        .increment(by: number)
    }
    Counter(label: "other", factory: registry).increment()
    Counter(label: "n", dimensions: [("id", "2")], factory: registry).increment()
    #expect(
      registry.samples == [
        #"n{id="1"} 1"#, #"n{id="2"} 3"#, #"n{id="3"} 3"#, #"n{overflow="true"} 9"#,
      ])
  }

  @Test func `what many threads count and record adds up`() {
    let registry = PrometheusRegistry()
    registry.describe("t_seconds", help: "", bounds: [0.5])
    registry.describe("r", help: "", bounds: [0])
    DispatchQueue.concurrentPerform(iterations: 8) { thread in
      for round in 0..<1000 {
        Counter(label: "n", dimensions: [("r", "\(round % 3)")], factory: registry).increment()
        FloatingPointCounter(label: "f", factory: registry).increment(by: 0.5)
        Meter(label: "m", factory: registry).increment(by: thread % 2 == 0 ? 2 : 1)
        Timer(label: "t_seconds", factory: registry).recordSeconds(round % 2)
        Recorder(label: "r", factory: registry).record(round % 2 == 0 ? -1.5 : 1)
      }
    }
    #expect(
      registry.samples == [
        "f 4000", "m 12000", #"n{r="0"} 2672"#, #"n{r="1"} 2664"#, #"n{r="2"} 2664"#,
        #"r_bucket{le="0"} 4000"#, #"r_bucket{le="+Inf"} 8000"#, "r_sum -2000", "r_count 8000",
        #"t_seconds_bucket{le="0.5"} 4000"#, #"t_seconds_bucket{le="+Inf"} 8000"#,
        "t_seconds_sum 4000", "t_seconds_count 8000",
      ])
  }
}
