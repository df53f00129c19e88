/// The description of the API (OpenAPI 3.1), embedded in the program.
enum OpenAPI {
  static let document: [UInt8] = PackageResources.openapi_json
}
