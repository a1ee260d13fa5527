import ErrorContract

/// `{"outcome":"success","authorized":true}` or `{"outcome":"failure","kind":"rateLimited","code":"…","status":429,…}`.
extension LabExpectation: Codable {
    private enum CodingKeys: String, CodingKey {
        case outcome, authorized, kind, code, status, fields
        case retryAfterFrom = "retry_after_from"
        case retryAfterTo = "retry_after_to"
        case namesRequest = "request_id"
        case serverMayTell = "server_may_tell"
    }

    /// Reads an expectation.
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
                serverMayTell: try container.decodeIfPresent(Bool.self, forKey: .serverMayTell) ?? false
            )
        )
    }

    /// Writes the expectation.
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
            if failure.serverMayTell { try container.encode(true, forKey: .serverMayTell) }
        }
    }
}
