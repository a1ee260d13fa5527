public import HTTPTypes

extension HTTPField.Name {
    /// `X-Error-Code`: the code, so that it survives an edge that replaces the body.
    public static let errorCode = contractField("X-Error-Code")
    /// `X-Request-Id`: the id by which the server's log knows the request.
    public static let requestID = contractField("X-Request-Id")

    static func contractField(_ name: String) -> HTTPField.Name {
        guard let field = HTTPField.Name(name) else { preconditionFailure("\(name) is not a field name") }
        return field
    }
}
