import ErrorContract
import ServerMiddleware
import StrictJSON

extension ErrorFamily {
    /// The errors of notes.
    static let note = Self(rawValue: "NOTE")
}

extension ErrorCode {
    /// The note is locked and can't be removed. Status 423.
    static let noteLocked = Self("NOTE_LOCKED")
}

extension ErrorDefinition {
    /// The definition of an error code that the app adds to those of the contract: its status, texts and family.
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

/// An error of the app. The router converts it to a response with the code `NOTE_LOCKED`.
struct NoteLocked: ContractErrorConvertible {
    /// The id of the note, which the details of the response contain.
    let id: Int

    var contractError: ContractError { ContractError(.noteLocked, details: ["note": .integer(Int64(id))]) }
}
