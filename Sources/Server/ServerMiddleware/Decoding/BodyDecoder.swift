import ErrorContract
import Foundation
import StrictJSON

/// Decodes any `Decodable` type from JSON and collects all problems. Foundation's decoder stops at the first problem.
///
/// If a value doesn't fit its type, the decoder records the problem, replaces the value with a placeholder, and continues. To get a
/// placeholder, the decoder tries to decode the type from several sample values. If the type accepts none of them, the decoder gives up the
/// value that contains this value, and replaces the containing value in the same way. The list of problems is then incomplete, but each
/// problem in it is real. If there is any problem, the decoder discards the decoded value.
/// - Complexity: O(size of the body).
enum BodyDecoder {
    /// Decodes a value.
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - json: The parsed body.
    ///   - isForm: Whether the body is a form, in which numbers and Booleans are written as text.
    /// - Throws: ``ContractError/invalid(_:)`` with all problems.
    static func decode<Value: Decodable>(_ type: Value.Type, from json: JSONValue, isForm: Bool) throws -> Value {
        let log = ProblemLog()
        let place = BodyPlace(value: json, path: FieldPath(), isForm: isForm, log: log)
        let value = try? place.unbox(type)
        guard log.problems.isEmpty, let value else {
            let problems = log.problems.isEmpty ? [.init(path: FieldPath(), code: .validationInvalidFormat)] : log.problems
            throw ContractError.invalid(problems)
        }
        return value
    }
}

/// The list of problems that the decoder has found so far. The list can contain one problem more than a response can contain. The response
/// then reports that there are more problems.
///
/// The list contains equal problems only once. It needs no lock, because each decoding has its own list and runs synchronously.
final class ProblemLog {
    private(set) var problems: [ContractError.Problem] = []

    /// Records a problem. If a name in the path is too long for a response, the path ends before this name.
    func note(_ code: ErrorCode, at path: FieldPath) {
        let problem = ContractError.Problem(path: path.reportable, code: code)
        guard problems.count <= ContractError.maximumProblems, !problems.contains(problem) else { return }
        problems.append(problem)
    }
}

/// A value of the body, with its path in the body.
struct BodyPlace {
    let value: JSONValue
    let path: FieldPath
    /// Whether the body is a form, where all values are texts.
    let isForm: Bool
    /// The problems of the whole body.
    let log: ProblemLog

    /// The error that stops decoding if no placeholder exists for a value. The problem has already been recorded.
    struct Abandoned: Error {}

    /// Returns the place of a member or an element of this value.
    func child(_ value: JSONValue, _ step: FieldPath.Step) -> BodyPlace {
        BodyPlace(value: value, path: path.appending(step), isForm: isForm, log: log)
    }

    /// Decodes the value. If the value doesn't fit the type, records the problem and returns a placeholder.
    /// - Parameter type: The type of the value.
    /// - Throws: ``Abandoned`` if there is no placeholder of the type.
    func unbox<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let noted = log.problems.count
        do {
            return try BodyScalars.decode(type, from: self) ?? type.init(from: BodyValueDecoder(place: self))
        } catch is Abandoned {
            // The problem was recorded at a deeper level.
        } catch {
            // If decoding recorded a problem at a deeper level, it used a placeholder there. The placeholder alone can have caused `error`,
            // so the decoder doesn't record `error`.
            let code = (error as? any ContractRefusal)?.code ?? .validationInvalidFormat
            if log.problems.count == noted { log.note(code, at: path) }
        }
        return try Placeholder.value(of: type)
    }

    /// Records that a required value is missing and returns a placeholder.
    func missing<Value: Decodable>(_ type: Value.Type) throws -> Value {
        log.note(.validationMissingField, at: path)
        return try Placeholder.value(of: type)
    }
}
