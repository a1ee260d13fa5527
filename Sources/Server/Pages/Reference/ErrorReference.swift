public import ErrorContract

/// The reference of error codes, derived from a catalogue: as Markdown, and as the pages that problem details point at.
public struct ErrorReference: Sendable {
    let catalogue: ErrorCatalogue

    /// Creates the reference of a catalogue.
    public init(catalogue: ErrorCatalogue = .standard) {
        self.catalogue = catalogue
    }

    /// The families, in the order of their first codes, with their codes in the order of the catalogue.
    var families: [(family: ErrorFamily, definitions: [ErrorDefinition])] {
        var families: [(family: ErrorFamily, definitions: [ErrorDefinition])] = []
        for definition in catalogue.definitions {
            if let index = families.firstIndex(where: { $0.family == definition.family }) {
                families[index].definitions.append(definition)
            } else {
                families.append((definition.family, [definition]))
            }
        }
        return families
    }

    /// The languages of a text: those of the contract first, in its order.
    static func languages(of text: LocalizedText) -> [Language] {
        let supported = Language.supported.filter(text.languages.contains)
        return supported + text.languages.subtracting(supported).sorted { $0.rawValue < $1.rawValue }
    }
}
