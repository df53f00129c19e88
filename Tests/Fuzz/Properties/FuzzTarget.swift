/// What the fuzzer is set on: one part of the program that reads bytes of strangers.
public enum FuzzTarget: String, CaseIterable, Sendable {
  case parser, cursor, query, range, fields, record, shape, media, structure, engine, report

  /// What does not hold of these bytes, as a sentence; nil if all is well.
  public func fault(in input: [UInt8]) -> String? {
    switch self {
    case .parser: ParserProperties.fault(in: input)
    case .cursor: CursorProperties.fault(in: input)
    case .query: QueryProperties.fault(in: input)
    case .range: RangeProperties.fault(in: input)
    case .fields: FieldProperties.fault(in: input)
    case .record: RecordProperties.fault(in: input)
    case .shape: ShapeProperties.fault(in: input)
    case .media: MediaProperties.fault(in: input)
    case .structure: StructureProperties.fault(in: input)
    case .report: ReportProperties.fault(in: input)
    case .engine: EngineProperties.fault(in: input)
    }
  }
}
