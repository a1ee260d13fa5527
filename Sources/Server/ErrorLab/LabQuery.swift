import ErrorContract
import ErrorLabContract
import Hummingbird
import ServerMiddleware
import StrictJSON

/// A reader for the query of a request, which reports all invalid parameters at once.
///
/// Call one method for each parameter, and then ``finish()``. If no method has read a parameter, ``finish()`` reports the parameter as
/// unknown. So the code needs no separate list of valid names.
struct LabQuery {
    /// The names and values in the order of the query.
    let parameters: [(name: String, value: String)]
    /// The invalid parameters so far.
    private var problems: [LabRefusal.Problem] = []
    /// The names of the parameters that were read. All other parameters are unknown.
    private var known: [String] = []

    /// Parses the query.
    /// - Throws: ``ContractError`` with the code `REQUEST_MALFORMED` for a query with invalid syntax or a duplicate parameter.
    init(_ request: Request) throws {
        let members = try FormReader.object(Array((request.uri.query ?? "").utf8)).objectValue?.members ?? []
        parameters = members.map { ($0.key, $0.value.stringValue ?? "") }
    }

    /// Reads a whole number within a range.
    /// - Parameters:
    ///   - name: The name of the parameter.
    ///   - range: The valid values.
    ///   - usual: The value if the parameter is absent.
    /// - Returns: The value, or `usual` if the parameter is absent or invalid. ``finish()`` reports an invalid value.
    mutating func whole(_ name: String, in range: ClosedRange<Int>, default usual: Int) -> Int {
        guard let text = value(name) else { return usual }
        if let number = Int(text), range.contains(number) { return number }
        refuse(name, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        return usual
    }

    /// Reads `true` or `false`.
    /// - Parameter name: The name of the parameter.
    /// - Returns: The value; `false` if the parameter is absent or invalid.
    mutating func flag(_ name: String) -> Bool {
        guard let text = value(name) else { return false }
        if text != "true", text != "false" { refuse(name, "one of true, false") }
        return text == "true"
    }

    /// Reads the name of a session from the parameter `session`.
    /// - Returns: The name; empty if the parameter is absent or invalid.
    mutating func session() -> String {
        guard let text = value("session") else { return "" }
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-".utf8)
        if (1...64).contains(text.utf8.count), text.utf8.allSatisfy(allowed.contains) { return text }
        refuse("session", "at most 64 letters, digits and ._-")
        return ""
    }

    /// Reads the format of an error's body from the parameter `form`.
    /// - Returns: The format; `nil` if the parameter is absent or invalid.
    mutating func form() -> ErrorForm? {
        guard let text = value("form") else { return nil }
        if let form = ErrorForm(rawValue: text) { return form }
        refuse("form", "one of " + ErrorForm.allCases.map(\.rawValue).joined(separator: ", "))
        return nil
    }

    /// Throws an error if a parameter is invalid, or if no method has read it. The error lists all invalid parameters, and at most 50
    /// unknown parameters.
    /// - Throws: ``ContractError`` with all problems of the query.
    func finish() throws {
        let unknown = parameters.map(\.name).filter { !known.contains($0) }.prefix(50).map { name in
            LabRefusal.Problem(
                parameter: String(name.prefix(64)),
                code: .validationInvalidInput,
                allowed: known.isEmpty ? "no parameter" : "unknown parameter; the parameters are " + known.joined(separator: ", ")
            )
        }
        guard problems.isEmpty, unknown.isEmpty else { throw ContractError(LabRefusal(problems + unknown)) }
    }

    /// Returns the value of a parameter, and records its name as known.
    private mutating func value(_ name: String) -> String? {
        known.append(name)
        return parameters.first { $0.name == name }?.value
    }

    /// Records a problem.
    private mutating func refuse(_ name: String, _ allowed: String) {
        problems.append(LabRefusal.Problem(parameter: name, code: .validationInvalidFormat, allowed: allowed))
    }
}

extension ContractError {
    /// Creates the error for invalid parameters. `details.allowed` describes the valid values.
    init(_ refusal: LabRefusal) {
        self = .invalid(refusal.problems.map { Problem(path: FieldPath([.member($0.parameter)]), code: $0.code) })
        details["allowed"] = .object(JSONObject(refusal.problems.map { ($0.parameter, .string($0.allowed)) }))
    }
}
