import AccountContract
import AccountCore
import ErrorContract
import Foundation

/// The texts of an email of one kind, in the order in which they appear in the email. ``MailTemplates`` fills their placeholders.
struct MailWording {
    /// The subject.
    let subject: LocalizedText
    /// The text that mail programs show after the subject. With `nil`, they show the beginning of the email.
    var preview: LocalizedText?
    /// The paragraphs after the greeting.
    var paragraphs: [LocalizedText]
    /// The label of the button with the link; `nil` if the link is in a footnote.
    var button: LocalizedText?
    /// The paragraphs after the button.
    var afterButton: [LocalizedText] = []
    /// The footnotes.
    let footnotes: [Footnote]

    /// A footnote.
    struct Footnote {
        /// The text of the footnote.
        let text: LocalizedText
        /// Whether the address of the link follows the text.
        var hasLink = false
    }

    /// Selects the texts of an email.
    /// - Parameters:
    ///   - content: The content of the email.
    ///   - settings: The settings of all emails, for the lifetimes of links.
    init(_ content: MailContent, settings: MailTemplates.Settings) {
        switch content.kind {
        case .passwordReset:
            self.init(
                subject: MailTexts.resetSubject,
                preview: MailTexts.resetPreview,
                paragraphs: [MailTexts.resetRequested, MailTexts.resetClick],
                button: ContractText.resetTitle,
                afterButton: [Self.expiry(settings.linkLifetime), MailTexts.resetIgnore]
            )
        case .passwordChanged:
            self.init(subject: MailTexts.changedSubject, notice: [MailTexts.changedBody], notMe: MailTexts.changedNotMe)
        case .verifyEmail:
            self.init(
                subject: MailTexts.verifySubject,
                preview: MailTexts.verifyPreview,
                paragraphs: [MailTexts.verifyRequested, MailTexts.verifyClick],
                button: MailTexts.verifyButton,
                afterButton: [Self.expiry(settings.confirmationLifetime), MailTexts.verifyIgnore]
            )
        case .activate:
            self.init(
                subject: MailTexts.activateSubject,
                preview: MailTexts.activatePreview,
                paragraphs: [MailTexts.activateRequested, MailTexts.activateClick],
                button: MailTexts.activateButton,
                afterButton: [Self.expiry(settings.confirmationLifetime), MailTexts.activateIgnore]
            )
        case .accountExists:
            self.init(
                subject: MailTexts.existsSubject,
                preview: MailTexts.existsPreview,
                paragraphs: [MailTexts.activateRequested, MailTexts.existsAlready, MailTexts.existsClick],
                button: ContractText.resetTitle,
                afterButton: [Self.expiry(settings.linkLifetime), MailTexts.existsIgnore]
            )
        case .confirmEmail:
            self.init(
                subject: MailTexts.confirmSubject,
                preview: MailTexts.confirmPreview,
                paragraphs: [MailTexts.confirmRequested, MailTexts.confirmClick],
                button: MailTexts.confirmButton,
                afterButton: [Self.expiry(settings.confirmationLifetime), MailTexts.confirmIgnore]
            )
        case .emailChanged:
            self.init(
                subject: MailTexts.emailChangedSubject,
                paragraphs: [MailTexts.emailChangedBody, MailTexts.restoreAddressClick],
                button: MailTexts.restoreAddressButton,
                afterButton: [Self.undoExpiry, MailTexts.emailChangedIgnore]
            )
        case .accountDeleted:
            self.init(
                subject: MailTexts.deletedSubject,
                paragraphs: [MailTexts.deletedBody] + Self.removal(content) + [MailTexts.keepClick],
                button: MailTexts.keepButton,
                afterButton: [MailTexts.deletedNotMe, MailTexts.deletedIgnore]
            )
        case .formerAccountDeleted:
            self.init(
                subject: MailTexts.deletedSubject,
                paragraphs: [MailTexts.formerDeletedBody] + Self.removal(content) + [MailTexts.formerDeletedClick],
                button: MailTexts.keepButton,
                afterButton: [Self.undoExpiry, MailTexts.deletedIgnore]
            )
        case .newDevice:
            let device = content.device.map { MailTexts.newDeviceBody.filling("device", with: $0.withoutLinks) }
            self.init(
                subject: MailTexts.newDeviceSubject,
                notice: [device ?? MailTexts.newDeviceUnknown, MailTexts.newDeviceIgnore],
                notMe: MailTexts.newDeviceNotMe
            )
        }
    }

    /// Creates the texts of an email with a button.
    private init(
        subject: LocalizedText,
        preview: LocalizedText? = nil,
        paragraphs: [LocalizedText],
        button: LocalizedText,
        afterButton: [LocalizedText]
    ) {
        self.subject = subject
        self.preview = preview
        self.paragraphs = paragraphs
        self.button = button
        self.afterButton = afterButton
        footnotes = [Footnote(text: MailTexts.copyLink, hasLink: true), Footnote(text: MailTexts.securityNotice)]
    }

    /// Creates the texts of a notice with the link "this was not me", which locks the account.
    private init(subject: LocalizedText, notice: [LocalizedText], notMe: LocalizedText) {
        self.subject = subject
        paragraphs = notice
        footnotes = [Footnote(text: notMe, hasLink: true)]
    }

    /// Returns the sentence with the lifetime of a link.
    private static func expiry(_ lifetime: Duration) -> LocalizedText {
        MailTexts.linkExpiry.filling("wait", with: WaitPhrase(lifetime).text)
    }

    /// The sentence with the lifetime of a link that restores a former address.
    private static let undoExpiry = MailTexts.undoExpiry.counting(Int(AccountRecord.undoTime.components.seconds / 86_400))

    /// Returns the sentence with the date on which a deleted account is removed, if the date is known.
    private static func removal(_ content: MailContent) -> [LocalizedText] {
        content.removalDate.map { [MailTexts.deletedOn.filling("date", with: $0)] } ?? []
    }
}

extension MailContent {
    /// The date on which a deleted account is removed, in UTC, as `2026-11-30`. The format is the same in all languages.
    var removalDate: String? { purgeAt?.formatted(.iso8601.year().month().day()) }
}
