import Crypto
import ErrorContract
import Foundation
import HTTPTypes
public import Hummingbird
import ServerMiddleware

/// Who may read the figures of a server.
public enum MetricsAccess: Sendable {
    /// Requests that name the machine itself as their host.
    case loopback
    /// Who sends this text as a bearer token.
    case bearer(String)
}

/// The figures of a server as Prometheus reads them.
public struct MetricsRoute<Context: RequestContext>: Sendable {
    private let access: MetricsAccess
    private let text: @Sendable () async -> String

    /// Creates the route.
    /// - Parameters:
    ///   - access: Who may read the metrics.
    ///   - text: The figures in the exposition format 0.0.4.
    public init(access: MetricsAccess, text: @escaping @Sendable () async -> String) {
        self.access = access
        self.text = text
    }

    /// Adds the route to a router or a group.
    public func add(to router: some RouterMethods<Context>) {
        router.get("/metrics") { request, _ in
            try check(request)
            return Response(
                status: .ok,
                headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: await text()))
            )
        }
    }

    private func check(_ request: Request) throws {
        switch access {
        case .loopback: try request.requireHost(\.isLoopback)
        case .bearer(let token):
            let given = try request.bearerToken()
            // Digests take the same time to compare however much of them is equal.
            guard SHA256.hash(data: Data(given.utf8)) == SHA256.hash(data: Data(token.utf8)) else {
                throw ContractError(.authTokenInvalid)
            }
        }
    }
}

extension Request {
    /// The token of `Authorization: Bearer`.
    /// - Throws: ``ContractError`` with the code `AUTH_TOKEN_MISSING` or `AUTH_TOKEN_INVALID`.
    func bearerToken() throws -> String {
        guard let field = headers.value(of: .authorization) else { throw ContractError(.authTokenMissing) }
        // By bytes: a token is long.
        let parts = field.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: true).map(Substring.init)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { throw ContractError(.authTokenInvalid) }
        return String(parts[1])
    }
}
