import ErrorContract
import Foundation
import StrictJSON

/// Decodes any `Decodable` type from JSON and collects all problems. Foundation's decoder stops at the first one.
///
/// After a problem, the decoder continues with a placeholder: it tries to decode the type from several samples. The result of a decoding
/// with problems is discarded. If a type accepts no sample, decoding stops at that level, so the list of problems may be incomplete but is
/// never wrong.
/// - Complexity: O(size of the body).
enum BodyDecoder {
    /// Decodes a value.
    /// - Parameters:
    ///   - type: The type.
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

/// The problems found so far: at most one more than a response lists, so that the response can report that there are more.
///
/// Equal problems are recorded once. A log is only used within one synchronous decoding, so it needs no lock.
final class ProblemLog {
    private(set) var problems: [ContractError.Problem] = []

    /// Records a problem. A path is cut before a name that is too long to be repeated.
    func note(_ code: ErrorCode, at path: FieldPath) {
        let problem = ContractError.Problem(path: path.reportable, code: code)
        guard problems.count <= ContractError.maximumProblems, !problems.contains(problem) else { return }
        problems.append(problem)
    }
}

/// A value of the body and its path.
struct BodyPlace {
    let value: JSONValue
    let path: FieldPath
    /// Whether the body is a form, where all values are texts.
    let isForm: Bool
    /// The problems of the whole body.
    let log: ProblemLog

    /// Thrown where no placeholder could be found. The problem has been recorded.
    struct Abandoned: Error {}

    /// Returns the place of a member or an element.
    func child(_ value: JSONValue, _ step: FieldPath.Step) -> BodyPlace {
        BodyPlace(value: value, path: path.appending(step), isForm: isForm, log: log)
    }

    /// Decodes the value. If it doesn't fit, records the problem and returns a placeholder.
    /// - Parameter type: The type of the value.
    /// - Throws: ``Abandoned`` if there is no placeholder of the type.
    func unbox<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let noted = log.problems.count
        do {
            return try BodyScalars.decode(type, from: self) ?? type.init(from: BodyValueDecoder(place: self))
        } catch is Abandoned {
            // The problem was recorded at a deeper level.
        } catch {
            // If there is a problem at a deeper level, the error may be caused by its placeholder.
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
