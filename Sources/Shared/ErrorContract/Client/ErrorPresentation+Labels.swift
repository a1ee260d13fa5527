extension ErrorPresentation {
    /// What stands on the button of the main action.
    /// - Parameters:
    ///   - language: The language of the text.
    ///   - catalogue: What has the app's own words.
    public func primaryLabel(in language: Language, catalogue: ErrorCatalogue = .standard) -> String {
        catalogue.text(primary == .dismiss ? ContractText.accept : primary.label, in: language)
    }

    /// What stands on the button of the other action, if there is one.
    /// - Parameters:
    ///   - language: The language of the text.
    ///   - catalogue: What has the app's own words.
    public func secondaryLabel(in language: Language, catalogue: ErrorCatalogue = .standard) -> String? {
        secondary.map { catalogue.text($0.label, in: language) }
    }
}

extension ErrorPresentation.Action {
    /// What stands on a button beside another one; alone, ``dismiss`` is an OK rather than a Cancel.
    fileprivate var label: LocalizedText {
        switch self {
        case .dismiss: ContractText.cancel
        case .retry, .retryAt: ContractText.retry
        case .checkAgain: ContractText.checkAgain
        case .signIn: ContractText.signIn
        case .fixFields: ContractText.accept
        case .requestNewLink: ContractText.requestNewLink
        case .contactSupport: ContractText.contactSupport
        case .openSettings: ContractText.openSettings
        case .updateApp: ContractText.updateApp
        }
    }
}
