public import ErrorContract
import Timekeeping

/// The result that a client must decode from a response of the lab.
///
/// ```swift
/// let differences = scenario.expectation(ofCall: 1).differences(from: error)
/// #expect(differences.isEmpty)
/// ```
///
/// A ``LabScenario`` contains the expected results of its calls. A client compares its own results with these expectations. The texts of
/// the differences are in English, for developers.
public enum LabExpectation: Hashable, Sendable {
    /// The client must decode a ``LabSuccess``.
    /// - authorized: Whether the request must have contained credentials; `nil` if the credentials don't matter.
    case success(authorized: Bool? = nil)
    /// The client must throw this error.
    case failure(LabFailure)

    /// Describes the differences between the expectation and a success.
    ///
    /// The texts contain neither ids nor times, so they are the same in each run of a test.
    /// - Parameter reply: The decoded body of the response.
    /// - Returns: One text per difference; empty if the expectation is met.
    public func differences(from reply: LabSuccess) -> [String] {
        guard case .success(let authorized) = self else { return ["the call succeeded"] }
        guard let authorized, authorized != reply.authorized else { return [] }
        return ["credentials were \(reply.authorized ? "" : "not ")sent"]
    }

    /// Describes the differences between the expectation and an error.
    /// - Parameter error: The error that the client has thrown.
    /// - Returns: One text per difference; empty if the expectation is met.
    public func differences(from error: APIError) -> [String] {
        guard case .failure(let failure) = self else { return ["the call failed: \(error)"] }
        if failure.serverMayReport, error.code == .serverTimeout, error.status == 504 { return [] }
        return failure.differences(from: error)
    }
}

/// The error that a client must throw for a call of the lab. To compare it with the error that the client has thrown, use the method
/// `differences(from:)` of ``LabExpectation``. This method doesn't compare the texts of errors, because they depend on the language.
///
/// ```swift
/// let expected = LabFailure(.rateLimited, .rateLimitExceeded, status: 429, retryAfter: 30...30)
/// ```
public struct LabFailure: Hashable, Sendable {
    /// The kind of the failure.
    public var kind: APIError.Kind
    /// The code of the error: the server's code, or if there is no response, a code of the client such as `NETWORK_ERROR`.
    public var code: ErrorCode
    /// The HTTP status; `nil` if no response is received. If a response with the status 200 reports an error, this property is the status
    /// in the body.
    public var status: Int?
    /// The valid range of the delay in whole seconds; `nil` if the error must not have a delay. It is a range, because the delay until an
    /// HTTP date depends on the time of the response.
    public var retryAfter: ClosedRange<Int>?
    /// Whether the response contains a request id.
    public var namesRequest: Bool
    /// The names of the fields with problems, in the order of the response. An empty name stands for the whole request.
    public var fields: [String]
    /// Whether a 504 with `SERVER_TIMEOUT` is also correct. The client sends its timeout to the server. The server responds at about the
    /// time when the client stops waiting, so the client sometimes still receives this response.
    public var serverMayReport: Bool

    /// Creates a failure. The defaults are for an error with a complete response and without a delay.
    /// - Parameters:
    ///   - kind: The kind of the failure.
    ///   - code: The server's code, or the client's code.
    ///   - status: The status; `nil` if no response is received.
    ///   - retryAfter: The valid delays in whole seconds; `nil` if the client must not read a delay.
    ///   - namesRequest: Whether the response contains a request id.
    ///   - fields: The names of the fields with problems, in order.
    ///   - serverMayReport: Whether a 504 with `SERVER_TIMEOUT` is also correct.
    public init(
        _ kind: APIError.Kind,
        _ code: ErrorCode,
        status: Int? = nil,
        retryAfter: ClosedRange<Int>? = nil,
        namesRequest: Bool = true,
        fields: [String] = [],
        serverMayReport: Bool = false
    ) {
        self.kind = kind
        self.code = code
        self.status = status
        self.retryAfter = retryAfter
        self.namesRequest = namesRequest
        self.fields = fields
        self.serverMayReport = serverMayReport
    }

    /// Describes the differences between the properties and an error.
    /// - Parameter error: The error that the client has thrown.
    /// - Returns: One text per property that differs, in the order of the properties.
    func differences(from error: APIError) -> [String] {
        var texts: [String] = []
        func compare<Value: Equatable>(_ name: String, _ read: Value, _ expected: Value) {
            if read != expected { texts.append("\(name) is \(read) instead of \(expected)") }
        }
        compare("the kind", error.kind.rawValue, kind.rawValue)
        compare("the code", error.code.rawValue, code.rawValue)
        compare("the status", error.status.map { "\($0)" } ?? "none", status.map { "\($0)" } ?? "none")
        compare("the request id", error.requestID == nil ? "missing" : "there", namesRequest ? "there" : "missing")
        compare("the list of fields", error.violations.map(\.field), fields)
        let wait = error.retryAfter?.wholeSecondsRoundedUp
        if retryAfter.map({ range in wait.map { range.contains($0) } ?? false }) ?? (wait == nil) == false {
            let expected = retryAfter.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
            texts.append("the delay is \(wait.map { "\($0)" } ?? "none") instead of \(expected ?? "none")")
        }
        return texts
    }
}

/// The JSON form: `{"outcome":"success","authorized":true}` or `{"outcome":"failure","kind":"rateLimited","code":"…","status":429,…}`.
extension LabExpectation: Codable {
    private enum CodingKeys: String, CodingKey {
        case outcome, authorized, kind, code, status, fields
        case retryAfterFrom = "retry_after_from"
        case retryAfterTo = "retry_after_to"
        case namesRequest = "request_id"
        case serverMayReport = "server_may_tell"
    }

    /// Decodes an expectation. An outcome other than `failure` is a success. If the JSON contains only the shortest valid delay, this delay
    /// is also the longest one.
    /// - Throws: `DecodingError` if a required member is missing or has another type.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard try container.decode(String.self, forKey: .outcome) == "failure" else {
            self = .success(authorized: try container.decodeIfPresent(Bool.self, forKey: .authorized))
            return
        }
        let earliest = try container.decodeIfPresent(Int.self, forKey: .retryAfterFrom)
        let latest = try container.decodeIfPresent(Int.self, forKey: .retryAfterTo)
        self = .failure(
            LabFailure(
                APIError.Kind(rawValue: try container.decode(String.self, forKey: .kind)),
                try container.decode(ErrorCode.self, forKey: .code),
                status: try container.decodeIfPresent(Int.self, forKey: .status),
                retryAfter: earliest.map { $0...max($0, latest ?? $0) },
                namesRequest: try container.decode(Bool.self, forKey: .namesRequest),
                fields: try container.decode([String].self, forKey: .fields),
                serverMayReport: try container.decodeIfPresent(Bool.self, forKey: .serverMayReport) ?? false
            )
        )
    }

    /// Encodes the expectation. A delay is encoded as the members `retry_after_from` and `retry_after_to`, in seconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .success(let authorized):
            try container.encode("success", forKey: .outcome)
            try container.encodeIfPresent(authorized, forKey: .authorized)
        case .failure(let failure):
            try container.encode("failure", forKey: .outcome)
            try container.encode(failure.kind.rawValue, forKey: .kind)
            try container.encode(failure.code, forKey: .code)
            try container.encodeIfPresent(failure.status, forKey: .status)
            try container.encodeIfPresent(failure.retryAfter?.lowerBound, forKey: .retryAfterFrom)
            try container.encodeIfPresent(failure.retryAfter?.upperBound, forKey: .retryAfterTo)
            try container.encode(failure.namesRequest, forKey: .namesRequest)
            try container.encode(failure.fields, forKey: .fields)
            if failure.serverMayReport { try container.encode(true, forKey: .serverMayReport) }
        }
    }
}
