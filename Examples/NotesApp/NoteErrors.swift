import ErrorContract
import ServerMiddleware
import StrictJSON

extension ErrorFamily {
    /// What can be wrong with a note.
    static let note = Self(rawValue: "NOTE")
}

extension ErrorCode {
    /// The note may not be changed. Status 423.
    static let noteLocked = Self("NOTE_LOCKED")
}

extension ErrorDefinition {
    /// A code of the app's own, beside those of the contract.
    static let noteLocked = ErrorDefinition(
        .noteLocked,
        family: .note,
        status: 423,
        summary: "Note is locked",
        userAction: "Unlock the note first",
        message: LocalizedText(
            en: "This note is locked.",
            es: "Esta nota está bloqueada.",
            he: "הפתק הזה נעול.",
            pt: "Esta nota está bloqueada.",
            fr: "Cette note est verrouillée.",
            de: "Diese Notiz ist gesperrt."
        )
    )
}

/// The app's own error, which says what it is in the contract.
struct NoteLocked: ContractErrorConvertible {
    let id: Int

    var contractError: ContractError { ContractError(.noteLocked, details: ["note": .integer(Int64(id))]) }
}
