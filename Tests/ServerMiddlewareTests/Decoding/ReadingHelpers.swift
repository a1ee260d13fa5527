import ErrorContract
import Hummingbird
import ServerMiddleware
import Testing

/// Reads a JSON body.
func read<Value: Decodable>(_ type: Value.Type, _ json: String) async throws -> Value {
    try await RequestReader().read(type, from: .post(json))
}

/// Returns the refusal of a body, and records an issue if the body is valid.
func refusal<Value: Decodable>(
    _ type: Value.Type,
    _ body: String,
    media: String = "application/json",
    sourceLocation: SourceLocation = #_sourceLocation
) async throws -> ContractError {
    let error = await #expect(throws: ContractError.self, sourceLocation: sourceLocation) {
        _ = try await RequestReader().read(type, from: .post(body, type: media))
    }
    return try #require(error, sourceLocation: sourceLocation)
}

/// Returns the problems of a refused body as `field: CODE`, in order.
func problems<Value: Decodable>(
    _ type: Value.Type,
    _ body: String,
    media: String = "application/json",
    sourceLocation: SourceLocation = #_sourceLocation
) async throws -> [String] {
    try await refusal(type, body, media: media, sourceLocation: sourceLocation).problems.map { "\($0.path.name): \($0.code)" }
}
