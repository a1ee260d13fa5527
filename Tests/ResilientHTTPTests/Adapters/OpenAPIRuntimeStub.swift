import Foundation
import HTTPTypes

/// The declarations of swift-openapi-runtime that the bridge of `docs/app/openapi.md` uses. With them the bridge is compiled and
/// run here
/// without the dependency.
enum OpenAPIRuntime {
    protocol ClientMiddleware: Sendable {
        func intercept(
            _ request: HTTPRequest,
            body: HTTPBody?,
            baseURL: URL,
            operationID: String,
            next: @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
        ) async throws -> (HTTPResponse, HTTPBody?)
    }

    final class HTTPBody: Sendable {
        fileprivate let bytes: [UInt8]

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }
    }

    struct ClientError: Error {
        var operationID: String
        var underlyingError: any Error
    }
}

extension [UInt8] {
    init(collecting body: OpenAPIRuntime.HTTPBody, upTo maxBytes: Int) async throws {
        self = Array(body.bytes.prefix(maxBytes))
    }
}

typealias HTTPBody = OpenAPIRuntime.HTTPBody
typealias ClientError = OpenAPIRuntime.ClientError

/// Calls operations like a generated client: through one middleware to a transport, whose errors it wraps.
struct GeneratedClient: Sendable {
    let baseURL: URL
    let middleware: any OpenAPIRuntime.ClientMiddleware
    let transport: @Sendable (HTTPRequest, [UInt8]?) async throws -> (HTTPResponse, [UInt8])

    func call(_ operationID: String, _ request: HTTPRequest, body: [UInt8]? = nil) async throws -> (HTTPResponse, [UInt8]) {
        let (response, body) = try await middleware.intercept(
            request,
            body: body.map { HTTPBody($0) },
            baseURL: baseURL,
            operationID: operationID
        ) { [transport] request, body, _ in
            do {
                let (response, bytes) = try await transport(request, body?.bytes)
                return (response, HTTPBody(bytes))
            } catch {
                throw ClientError(operationID: operationID, underlyingError: error)
            }
        }
        return (response, body?.bytes ?? [])
    }
}
