import AccountContract
import ErrorContract
import Foundation
import HTTPTypes
import Hummingbird
import StrictJSON

@testable import ServerMiddleware

/// Reads the body of a request: the first byte chooses the type that is read and whether the body is a form.
struct BodyTarget: FuzzTarget {
    private let reader = RequestReader()
    private let renderer = ContractErrorRenderer()

    init(folder: URL) throws {}

    func check(_ input: [UInt8]) throws {
        guard let choice = input.first else { return }
        let body = Array(input.dropFirst())
        let isForm = choice & 1 == 1
        switch choice >> 1 & 7 {
        case 0: try check(RegisterRequest.self, body, isForm: isForm)
        case 1: try check(LoginRequest.self, body, isForm: isForm)
        case 2: try check(RefreshRequest.self, body, isForm: isForm)
        case 3: try check(PasswordResetRequest.self, body, isForm: isForm)
        case 4: try check(ValidateResetTokenRequest.self, body, isForm: isForm)
        case 5: try check(ConfirmPasswordResetRequest.self, body, isForm: isForm)
        default: try check(Everything.self, body, isForm: isForm)
        }
        if isForm { try checkForm(body) }
    }

    private func check<Value: Codable & Hashable & Sendable>(_ type: Value.Type, _ body: [UInt8], isForm: Bool) throws {
        let value: Value
        do {
            value = try read(type, body, isForm: isForm)
        } catch let error as ContractError {
            return try check(error)
        }
        // An accepted value is the same after it was written. Only a date loses its fractions of a second, once.
        let once = try rewritten(value)
        try require(once == value || type == Everything.self, "a value that was written is read as another")
        try require(try rewritten(once) == once, "a value that was written twice is read as another")
        guard !isForm, type != Everything.self else { return }
        // Another parser reads the same value.
        let other = try? JSONDecoder().decode(type, from: Data(body))
        try require(other == value, "Foundation reads another value")
    }

    private func rewritten<Value: Codable & Sendable>(_ value: Value) throws -> Value {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return try read(Value.self, Array(try encoder.encode(value)), isForm: false)
    }

    private func read<Value: Decodable & Sendable>(_ type: Value.Type, _ body: [UInt8], isForm: Bool) throws -> Value {
        let media = isForm ? "application/x-www-form-urlencoded" : "application/json"
        let head = HTTPRequest(
            method: .post,
            scheme: "https",
            authority: "example.com",
            path: "/",
            headerFields: [.contentType: media]
        )
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(bytes: body)))
        return try waiting { [reader] in try await reader.read(type, from: request) }
    }

    private func check(_ error: ContractError) throws {
        let code = error.code.rawValue
        try require(code.hasPrefix("REQUEST_") || code.hasPrefix("VALIDATION_"), "the code \(code)")
        try require(error.problems.count <= ContractError.maximumProblems + 1, "\(error.problems.count) problems")
        for form in ErrorForm.allCases {
            let (head, body) = renderer.responseParts(for: error, in: .spanish, form: form, requestID: "id")
            try require(head.headerFields[.errorCode] == code, "the field and the error have different codes")
            // Each problem names a place with at most 32 steps of at most 128 bytes, which are escaped.
            try require(body.count <= 65_536 * 16, "an error of \(body.count) bytes")
            try require((try? JSONParser().parse(body)) != nil, "an error that is not JSON")
        }
    }

    private func checkForm(_ body: [UInt8]) throws {
        guard let object = (try? FormReader.object(body))?.objectValue else { return }
        let unreserved = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        let escaped = { (text: String) in text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "" }
        let pairs = object.members.map { escaped($0.key) + "=" + escaped($0.value.stringValue ?? "") }
        let again = try FormReader.object(Array(pairs.joined(separator: "&").utf8))
        try require(again == .object(object), "a form that was written is read as another")
    }
}

/// A type of an app, with a member of each kind.
private struct Everything: Codable, Hashable, Sendable {
    enum Kind: String, Codable, CaseIterable {
        case first, second
    }

    struct Part: Codable, Hashable, Sendable {
        var name: String
        var parts: [Part]?
    }

    var text: String?
    var flag: Bool?
    var small: Int8?
    var large: Int64?
    var real: Double?
    var single: Float?
    var date: Date?
    var url: URL?
    var id: UUID?
    var kind: Kind?
    var texts: [String]?
    var table: [String: Int]?
    var part: Part?
    var parts: [Part]?
}
