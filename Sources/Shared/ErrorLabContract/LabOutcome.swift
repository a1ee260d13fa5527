public import ErrorContract

/// What the lab answers with.
public enum LabOutcome: Hashable, Sendable {
    /// A success with a flat body.
    case ok
    /// A success with a body wrapped as `{"success":true,"data":{…}}`.
    case wrapped
    /// An error with a code.
    case code(ErrorCode)

    /// The outcome as a parameter: `ok`, `wrapped`, or the code.
    public var parameter: String {
        switch self {
        case .ok: "ok"
        case .wrapped: "wrapped"
        case .code(let code): code.rawValue
        }
    }

    /// Reads a parameter; `nil` for what is neither `ok`, `wrapped` nor the shape of a code.
    public init?(parameter: String) {
        switch parameter {
        case "ok": self = .ok
        case "wrapped": self = .wrapped
        default:
            let letters = parameter.utf8.allSatisfy { $0 == 0x5F || (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
            guard letters, (1...64).contains(parameter.utf8.count) else { return nil }
            self = .code(ErrorCode(parameter))
        }
    }
}

/// What the lab says about when to come back.
public enum LabRetryAfter: Hashable, Sendable {
    /// So many seconds, in the header and, where its form has a place for it, in the body.
    case seconds(Int)
    /// The same as an HTTP-date.
    case date(secondsAhead: Int)
    /// Nothing, not even for a 429.
    case absent
    /// A text, as it is, in the header alone.
    case raw(String)

    /// The longest delay that the lab names, in seconds: a day.
    public static let longest = 86_400

    /// The delay as a parameter: `30`, `date:30`, `none`, `raw:soon`.
    public var parameter: String {
        switch self {
        case .seconds(let seconds): "\(seconds)"
        case .date(let seconds): "date:\(seconds)"
        case .absent: "none"
        case .raw(let text): "raw:\(text)"
        }
    }

    /// Reads a parameter; `nil` for what is none. A date may lie an hour in the past.
    public init?(parameter: String) {
        if parameter == "none" {
            self = .absent
        } else if parameter.hasPrefix("raw:") {
            let text = String(parameter.dropFirst(4))
            guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
            self = .raw(text)
        } else if parameter.hasPrefix("date:") {
            guard let seconds = Int(parameter.dropFirst(5)), (-3_600...Self.longest).contains(seconds) else { return nil }
            self = .date(secondsAhead: seconds)
        } else {
            guard let seconds = Int(parameter), (0...Self.longest).contains(seconds) else { return nil }
            self = .seconds(seconds)
        }
    }
}
