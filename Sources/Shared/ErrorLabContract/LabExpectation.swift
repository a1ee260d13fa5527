import Timekeeping
public import ErrorContract

/// What a client must read from an answer of the lab.
public enum LabExpectation: Hashable, Sendable {
    /// A ``LabReply``.
    /// - authorized: Whether the request that was served carried credentials; `nil` if it doesn't matter.
    case success(authorized: Bool? = nil)
    /// An error.
    case failure(LabFailure)

    /// What differs from a reply, in words; empty if it is as promised.
    public func differences(from reply: LabReply) -> [String] {
        guard case .success(let authorized) = self else { return ["the call succeeded"] }
        guard let authorized, authorized != reply.authorized else { return [] }
        return ["credentials were \(reply.authorized ? "" : "not ")sent"]
    }

    /// What differs from an error, in words; empty if it is as promised.
    public func differences(from error: APIError) -> [String] {
        guard case .failure(let failure) = self else { return ["the call failed: \(error)"] }
        if failure.serverMayTell, error.code == .serverTimeout, error.status == 504 { return [] }
        return failure.differences(from: error)
    }
}

/// The error that a client must read from an answer.
public struct LabFailure: Hashable, Sendable {
    /// What sort of failure it is.
    public var kind: APIError.Kind
    /// The code: the server's, or the client's own.
    public var code: ErrorCode
    /// The status, if an answer comes.
    public var status: Int?
    /// The delay that is named, in whole seconds; `nil` if none must be read.
    public var retryAfter: ClosedRange<Int>?
    /// Whether the answer names the request.
    public var namesRequest: Bool
    /// The fields that are complained about.
    public var fields: [String]
    /// Whether a 504 with `SERVER_TIMEOUT` is as good: a server that heeds how long its client waits answers in the very moment in
    /// which the client stops waiting, and either may be first.
    public var serverMayTell: Bool

    /// Creates a failure.
    public init(
        _ kind: APIError.Kind,
        _ code: ErrorCode,
        status: Int? = nil,
        retryAfter: ClosedRange<Int>? = nil,
        namesRequest: Bool = true,
        fields: [String] = [],
        serverMayTell: Bool = false
    ) {
        self.kind = kind
        self.code = code
        self.status = status
        self.retryAfter = retryAfter
        self.namesRequest = namesRequest
        self.fields = fields
        self.serverMayTell = serverMayTell
    }

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
