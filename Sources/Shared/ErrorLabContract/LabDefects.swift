/// When the connection breaks.
public enum LabDrop: String, Hashable, Sendable, CaseIterable {
    /// Before the first byte of the answer.
    case before
    /// After the head, before the first byte of the body.
    case headers
    /// In the middle of the body, or after so many bytes of it as `truncate` says; `Content-Length` promises the whole.
    case body
}

/// How the connection breaks.
public enum LabClose: String, Hashable, Sendable, CaseIterable {
    /// The server closes it.
    case fin
    /// The server resets it.
    case reset
}

/// What stands in the place of the body.
public enum LabContent: String, Hashable, Sendable, CaseIterable {
    /// The page of a captive portal, in HTML, without a header of ours.
    case html
    /// A line of text, as a proxy writes it.
    case text
    /// Nothing.
    case empty
}

/// In which characters the body is, whatever its content type claims.
public enum LabCharset: String, Hashable, Sendable, CaseIterable {
    /// ISO 8859-1; what it can't say becomes `?`.
    case latin1
    /// UTF-16, little-endian, without a mark.
    case utf16
    /// UTF-8 behind a byte order mark.
    case bom
}

/// Where the request is sent instead.
public enum LabRedirect: String, Hashable, Sendable, CaseIterable {
    /// To another path of the same origin.
    case same
    /// To another origin: the same machine under another name.
    case cross
}
