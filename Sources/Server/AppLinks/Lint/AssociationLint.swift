import ErrorContract
import StrictJSON

/// Checks an association file, and the response that served it, for problems.
///
/// ```swift
/// let findings = AssociationLint.findings(in: file.bytes)
/// for finding in findings { print(finding.severity, finding.place, finding.message) }
/// ```
///
/// The lint makes no requests: the caller fetches the file and passes a ``Retrieval``. To lint a file and match links, use ``LinksReport``.
/// To only match links, use ``AssociationMatcher``.
///
/// The checks accept any bytes and never throw, so a server can check untrusted files.
/// - Complexity: O(size of the file). The check for `unreachable` takes longer, because it compares each component with up to 500 earlier
///   components.
public enum AssociationLint {
    /// Returns the findings about a served file: first those about the response, then those about its content.
    /// - Parameter retrieval: The response to a request for the file. The content is only checked if the status is 2xx. If the file is
    ///   truncated, the only finding about its content is ``FindingCode/tooLarge``.
    /// - Returns: The findings; empty if the file is correct and the response follows Apple's rules.
    public static func findings(in retrieval: Retrieval) -> [AssociationFinding] {
        let served = RetrievalLint.findings(in: retrieval)
        guard (200..<300).contains(retrieval.status) else { return served }
        guard !retrieval.isTruncated else { return served + [tooLarge("more than \(retrieval.bytes.count)")] }
        return served + findings(in: retrieval.bytes)
    }

    /// Returns the findings about a file that is not served yet.
    /// - Parameter bytes: The file, uncompressed. Any bytes are accepted.
    /// - Returns: The findings, in the order of the checks; empty for a correct file.
    public static func findings(in bytes: some Collection<UInt8>) -> [AssociationFinding] {
        let text = AssociationText(bytes)
        var findings: [AssociationFinding] = []
        if text.byteCount > AssociationDocument.largest {
            findings.append(tooLarge("\(text.byteCount)"))
        }
        if text.hasByteOrderMark {
            findings.error(.byteOrderMark, "", "The file begins with a byte order mark; save it as UTF-8 without one.")
        }
        if text.isSigned {
            findings.error(.signed, "", "The file is signed as for iOS 8; serve the JSON itself over https, unsigned.")
            return findings
        }
        guard let file = parsed(text, &findings) else { return findings }
        let document = AssociationDocument(file)
        return findings + StructureLint.findings(in: file, apps: document.entries.flatMap(\.apps))
            + RuleLint.findings(in: document)
    }

    /// Returns the finding about a file that is larger than Apple accepts.
    /// - Parameter size: The number of bytes, as text.
    private static func tooLarge(_ size: String) -> AssociationFinding {
        .error(
            .tooLarge,
            "",
            "The file has \(size) bytes uncompressed; Apple accepts 128 KB. Replace lists of paths with patterns."
        )
    }

    /// Parses the file. A duplicate key is reported as a finding, and the checks continue with the last value.
    /// - Returns: The file. If the file is not JSON, the function adds a finding and returns `nil`.
    private static func parsed(_ text: AssociationText, _ findings: inout [AssociationFinding]) -> JSONValue? {
        do throws(JSONSyntaxError) {
            return try JSONParser().parse(text.json)
        } catch {
            let place = place(of: error.offset, in: text.json)
            guard error.reason == .duplicateKey, let file = try? JSONParser(duplicates: .lastWins).parse(text.json) else {
                findings.error(.notJSON, place, "The file is not JSON (\(error.reason.rawValue)); correct it there.")
                return nil
            }
            findings.error(
                .duplicateKey,
                place,
                "A key occurs twice in the object that ends there; parsers differ in which one they use, keep one."
            )
            return file
        }
    }

    /// Returns the line and the column of a byte, from 1.
    private static func place(of offset: Int, in json: ArraySlice<UInt8>) -> String {
        let before = json.prefix(offset)
        let line = before.count { $0 == 0x0A } + 1
        let column = before.reversed().prefix { $0 != 0x0A }.count + 1
        return "line \(line), column \(column)"
    }
}
