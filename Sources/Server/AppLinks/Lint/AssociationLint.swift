import ErrorContract
import StrictJSON

/// Looks through an association file, and through how it was served, for what breaks links.
///
/// Pure: whoever has fetched the file hands over a ``Retrieval``. O(file), but for `unreachable`, which compares a component with
/// the first 500.
public enum AssociationLint {
    /// The findings about a file as it was served.
    public static func findings(in retrieval: Retrieval) -> [AssociationFinding] {
        let served = RetrievalLint.findings(in: retrieval)
        guard (200..<300).contains(retrieval.status) else { return served }
        return served + findings(in: retrieval.bytes)
    }

    /// The findings about a file.
    public static func findings(in bytes: some Collection<UInt8>) -> [AssociationFinding] {
        let text = AssociationText(bytes)
        var findings: [AssociationFinding] = []
        if text.byteCount > AssociationDocument.largest {
            findings.append(
                .error(
                    .tooLarge,
                    "",
                    "The file has \(text.byteCount) bytes uncompressed; Apple takes 128 KB. Replace lists of paths by patterns."
                )
            )
        }
        if text.hasByteOrderMark {
            findings.append(.error(.byteOrderMark, "", "The file begins with a byte order mark; save it as UTF-8 without one."))
        }
        if text.isSigned {
            findings.append(.error(.signed, "", "The file is signed as for iOS 8; serve the JSON itself over https, unsigned."))
            return findings
        }
        guard let file = parsed(text, &findings) else { return findings }
        let document = AssociationDocument(file)
        return findings + StructureLint.findings(in: file, apps: document.entries.flatMap(\.apps))
            + RuleLint.findings(in: document)
    }

    private static func parsed(_ text: AssociationText, _ findings: inout [AssociationFinding]) -> JSONValue? {
        do throws(JSONSyntaxError) {
            return try JSONParser().parse(text.json)
        } catch {
            let place = place(of: error.offset, in: text.json)
            guard error.reason == .duplicateKey, let file = try? JSONParser(duplicates: .lastWins).parse(text.json) else {
                findings.append(.error(.notJSON, place, "The file is no JSON (\(error.reason.rawValue)); correct it there."))
                return nil
            }
            findings.append(
                .error(
                    .duplicateKey,
                    place,
                    "A key occurs twice in the object that ends there; readers differ on which counts, keep one."
                )
            )
            return file
        }
    }

    private static func place(of offset: Int, in json: ArraySlice<UInt8>) -> String {
        let before = json.prefix(offset)
        let line = before.count { $0 == 0x0A } + 1
        let column = before.reversed().prefix { $0 != 0x0A }.count + 1
        return "line \(line), column \(column)"
    }
}
