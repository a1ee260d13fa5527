import ErrorContract
import Foundation
import StrictJSON

/// Decodes any `Decodable` type from JSON and gathers every problem on the way, where Foundation's decoder stops at the first.
///
/// At a problem the decoder notes it and goes on with a stand-in value, found by offering the type a few samples; what comes out
/// is thrown away. A type that takes none of the samples ends its own level early, so at worst the list is short, never wrong.
/// O(size of the body).
enum BodyDecoder {
    /// Decodes a value.
    /// - Parameter isForm: Whether numbers and truth values are written as text.
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

/// The problems found so far, up to one more than are told. Used within one synchronous decoding only.
final class ProblemLog {
    private(set) var problems: [ContractError.Problem] = []

    func note(_ code: ErrorCode, at path: FieldPath) {
        let problem = ContractError.Problem(path: path.reportable, code: code)
        guard problems.count <= ContractError.maximumProblems, !problems.contains(problem) else { return }
        problems.append(problem)
    }
}

/// A value of the body and where it stands.
struct BodyPlace {
    let value: JSONValue
    let path: FieldPath
    let isForm: Bool
    let log: ProblemLog

    /// Thrown where no stand-in could be found; the problem has been noted.
    struct Abandoned: Error {}

    func child(_ value: JSONValue, _ step: FieldPath.Step) -> BodyPlace {
        BodyPlace(value: value, path: path.appending(step), isForm: isForm, log: log)
    }

    /// Decodes the value; notes a problem and stands in for it if it does not fit.
    func unbox<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let noted = log.problems.count
        do {
            return try BodyScalars.decode(type, from: self) ?? type.init(from: BodyValueDecoder(place: self))
        } catch is Abandoned {
            // What stands deeper has been noted there.
        } catch {
            // With a problem deeper down the refusal may be one of its stand-in.
            let code = (error as? any ContractRefusal)?.code ?? .validationInvalidFormat
            if log.problems.count == noted { log.note(code, at: path) }
        }
        return try Placeholder.value(of: type)
    }

    /// Notes that a required value is not there, and stands in for it.
    func missing<Value: Decodable>(_ type: Value.Type) throws -> Value {
        log.note(.validationMissingField, at: path)
        return try Placeholder.value(of: type)
    }
}
