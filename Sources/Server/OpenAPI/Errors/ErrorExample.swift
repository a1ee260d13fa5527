import ErrorContract
import Foundation
import StrictJSON

/// What an answer with a code says, for examples.
struct ErrorExample {
    let definition: ErrorDefinition

    /// The facts of the answer.
    var payload: ErrorPayload {
        payload(base: "")
    }

    private func payload(base: String) -> ErrorPayload {
        var payload = ErrorPayload(
            code: definition.code,
            status: definition.status,
            message: message,
            details: details,
            violations: violations,
            retryAfterSeconds: retryAfter.map { Int($0.components.seconds) },
            // 2026-11-21T10:30:00Z
            timestamp: Date(timeIntervalSince1970: 1_795_257_000),
            requestID: "5c0f6a1e-3f0b-4d0e-9f52-6c1f2f1f8a77"
        )
        payload.title = definition.summary
        payload.type = "\(base)/errors/\(definition.code)"
        return payload
    }

    /// The body in a form of ``ErrorContract/ErrorForm``.
    func body(in form: ErrorForm) -> JSONValue { form.body(of: payload) }

    /// The body as a problem of RFC 9457.
    /// - Parameter base: What stands before the path of the code's page.
    func problem(base: String) -> JSONValue { ErrorForm.problem.body(of: payload(base: base)) }

    private var message: String {
        let text: LocalizedText =
            switch definition.code {
            case .authWeakPassword: ContractText.passwordTooShort(minimum: 8)
            default: definition.status == 429 ? ContractText.limited(wait: retryAfter) : definition.message
            }
        return text.text(in: .english)
    }

    private var details: JSONObject { definition.code == .authWeakPassword ? ["reasons": ["too_short"]] : [:] }

    private var retryAfter: Duration? {
        if definition.code == .requestConflict { return .seconds(1) }
        return usualWait
    }

    private var usualWait: Duration? {
        switch definition.status {
        case 429: .seconds(3_600)
        case 503: .seconds(5)
        default: nil
        }
    }

    private var violations: [FieldViolation] {
        guard definition.family == .validation else { return [] }
        guard definition.code == .validationInvalidInput else {
            return [violation(definition.code, of: Self.field(definition.code))]
        }
        return [violation(.validationInvalidEmail, of: "email"), violation(.validationMissingField, of: "password")]
    }

    private static func field(_ code: ErrorCode) -> String { code == .validationInvalidEmail ? "email" : "first_name" }

    private func violation(_ code: ErrorCode, of field: String) -> FieldViolation {
        FieldViolation(
            field: field,
            pointer: "#/\(field)",
            code: code,
            message: ErrorCatalogue.standard[code]?.message.text(in: .english) ?? ""
        )
    }
}
