public import AccountContract

/// Why a link that the app was opened with is not followed.
public enum LinkRefusal: Error, Hashable, Sendable {
    /// The link belongs to somebody else: another host or scheme, web without TLS, or an address with a user in it.
    case foreign
    /// The named parameter occurs twice.
    case doubledParameter(String)
    /// The named parameter is not there, or is empty.
    case missingParameter(String)
    /// The named parameter has not the right form.
    case malformedParameter(String)
    /// The path or the query can't be read.
    case malformed
    /// The link leads to the reset page and is no reset link: open ``ResetPasswordModel`` with `nil` to say so.
    case resetLink(ResetLink.Refusal)
}
