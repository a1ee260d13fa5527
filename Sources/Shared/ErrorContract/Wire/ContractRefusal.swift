/// A value that came from outside was refused while it was read; the code says why.
///
/// Thrown from `init(from:)` of a value type, it becomes a ``FieldViolation`` at the value's place in the body.
public protocol ContractRefusal: Error {
    /// The code of the violation.
    var code: ErrorCode { get }
}
