public import ErrorContract

/// A problem with a field that the lab makes up for a code of the validation family.
public struct LabProblem: Hashable, Sendable {
    /// The members on the way to the field.
    public let path: [String]
    /// What is wrong.
    public let code: ErrorCode

    /// The field as a person names it.
    public var field: String { path.joined(separator: ".") }

    /// The problems of an answer with a code; none if it is about no field.
    public static func of(_ code: ErrorCode) -> [LabProblem] {
        switch code {
        case .validationInvalidInput:
            [
                LabProblem(path: ["email"], code: .validationInvalidEmail),
                LabProblem(path: ["address", "city"], code: .validationMissingField),
            ]
        case .validationInvalidEmail: [LabProblem(path: ["email"], code: code)]
        case .validationInvalidDate: [LabProblem(path: ["birthday"], code: code)]
        case .validationInvalidURL: [LabProblem(path: ["website"], code: code)]
        case let code where code.rawValue.hasPrefix("VALIDATION_"): [LabProblem(path: ["name"], code: code)]
        default: []
        }
    }
}
