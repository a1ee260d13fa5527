import Foundation
import HTTPTypes
import ResilientHTTP

// snippet: openapi-bridge
struct HoldfastMiddleware: OpenAPIRuntime.ClientMiddleware {
    let api: APIClient
    func intercept(
        _ request: HTTPRequest,
        body: HTTPBody?,
        baseURL: URL,
        operationID: String,
        next: @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
    ) async throws -> (HTTPResponse, HTTPBody?) {
        let bytes: [UInt8]? = if let body { try await [UInt8](collecting: body, upTo: api.maximumBodySize) } else { nil }
        let result = try await api.exchange(request, body: bytes, operation: operationID) { request, bytes in
            do {
                let (response, body) = try await next(request, bytes.map { HTTPBody($0) }, baseURL)
                guard let body else { return (response, []) }
                return (response, try await [UInt8](collecting: body, upTo: api.maximumBodySize))
            } catch let error as ClientError { throw error.underlyingError }
        }
        return (result.response, HTTPBody(result.body))
    }
}
// snippet end
