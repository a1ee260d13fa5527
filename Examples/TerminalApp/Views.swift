import AccountContract
import AccountKit
import ErrorContract
import Observation
import OfflineQueueUI

/// The sign-in screen.
@MainActor
struct SignInView {
    let model: SignInModel

    /// Shows the screen until the user has signed in or cancels.
    /// - Returns: Whether the user is signed in.
    func show() async -> Bool {
        Terminal.title(ContractText.signIn.text(in: model.language))
        while true {
            guard let email = Terminal.ask(ContractText.emailLabel.text(in: model.language), default: model.email),
                let password = Terminal.askSecret(ContractText.passwordLabel.text(in: model.language))
            else { return false }
            model.email = email
            model.password = password
            await model.submit()
            while let alert = model.alert {
                let action = Alert(presentation: alert, language: model.language).choose()
                let remaining = await model.perform(action)
                // Checking again is a new sign-in: the user types the credentials again.
                if remaining == .checkAgain { break }
                if action == .dismiss || remaining != nil { return false }
            }
            for problem in SignInModel.fields.compactMap(model.problem(at:)) { Terminal.say("  ⚠ \(problem)") }
            if case .signedIn(let user) = model.state {
                Terminal.say("✓ \(user.firstName)")
                return true
            }
        }
    }
}

/// The screen on which the user requests a reset link.
@MainActor
struct ForgotPasswordView {
    let model: ForgotPasswordModel

    private static let wait = LocalizedText(
        en: "Wait here? (y/n)",
        es: "¿Esperar aquí? (s/n)",
        he: "להמתין כאן? (כ/ל)",
        pt: "Esperar aqui? (s/n)",
        fr: "Attendre ici\u{A0}? (o/n)",
        de: "Hier warten? (j/n)"
    )

    /// Shows the screen until a request was accepted or the user cancels.
    func show() async {
        Terminal.title(ContractText.forgotPassword.text(in: model.language))
        if !model.isCoolingDown {
            guard let email = Terminal.ask(ContractText.emailLabel.text(in: model.language), default: model.email) else { return }
            model.email = email
        }
        await model.request()
        while let alert = model.alert {
            await model.perform(Alert(presentation: alert, language: model.language).choose())
        }
        if let problem = model.problem(at: .email) { Terminal.say("  ⚠ \(problem)") }
        guard case .requested(let message) = model.state else { return }
        Terminal.say("✓ \(message)")
        let reply = Terminal.ask(Self.wait.text(in: model.language))?.lowercased()
        if let reply, ["y", "s", "כ", "o", "j"].contains(reply) { await countDown() }
    }

    /// Shows the remaining seconds until the countdown ends.
    func countDown() async {
        async let countdown: Void = model.runCountdown()
        while let line = model.cooldownText {
            Terminal.overwrite(line)
            await nextChange { _ = model.secondsLeft }
        }
        await countdown
        Terminal.overwrite("")
    }

    private func nextChange(of values: () -> Void) async {
        await withCheckedContinuation { continuation in
            withObservationTracking(values) { continuation.resume() }
        }
    }
}

/// The screen that a reset link opens.
@MainActor
struct ResetPasswordView {
    /// The screen that follows.
    enum Next { case signIn, requestNewLink, leave }

    let model: ResetPasswordModel

    /// Shows the screen until the password is set or the user leaves.
    func show() async -> Next {
        Terminal.title(ContractText.resetTitle.text(in: model.language))
        await model.open()
        while true {
            if let page = model.deadLink ?? model.alert {
                let chosen = Alert(presentation: page, language: model.language).choose()
                switch await model.perform(chosen) {
                case .requestNewLink: return .requestNewLink
                // After a lost response, a sign-in with the new password shows whether it was set.
                case .signIn, .checkAgain: return .signIn
                case .some: return .leave
                case nil where chosen == .dismiss: return .leave
                case nil: continue
                }
            }
            if let text = model.successText {
                Terminal.say("✓ \(text)")
                return .signIn
            }
            guard model.isFormShown, await fill() else { return .leave }
        }
    }

    private func fill() async -> Bool {
        Terminal.say(model.greeting)
        if let problem = model.passwordProblem { Terminal.say("  ⚠ \(problem)") }
        guard let password = Terminal.askSecret(ContractText.newPassword.text(in: model.language)) else { return false }
        model.password = password
        if let strength = model.strength, let text = model.strengthText {
            let rest = String(repeating: "░", count: PasswordStrength.maximumScore - strength.score)
            Terminal.say("  \(String(repeating: "█", count: strength.score))\(rest) \(text)")
        }
        guard let again = Terminal.askSecret(ContractText.confirmPassword.text(in: model.language)) else { return false }
        model.confirmation = again
        await model.submit()
        return true
    }
}

/// The screen of pending changes.
@MainActor
struct PendingRequestsView {
    let model: PendingRequestsModel

    private static let choose = LocalizedText(
        en: "Number of a change, s to send now, Return to leave",
        es: "Número de un cambio, s para enviar ahora, Intro para salir",
        he: "מספר של שינוי, s לשליחה עכשיו, Enter ליציאה",
        pt: "Número de uma alteração, s para enviar agora, Enter para sair",
        fr: "Numéro d’une modification, s pour envoyer maintenant, Entrée pour quitter",
        de: "Nummer einer Änderung, s für jetzt senden, Eingabetaste zum Verlassen"
    )

    /// Shows the screen until the user leaves it.
    /// - Returns: Whether the user wants to sign in.
    func show() async -> Bool {
        while true {
            await model.load()
            draw()
            if let alert = model.currentAlert {
                model.dismissAlert(alert.id)
                _ = Alert(presentation: alert.presentation, language: model.language).choose()
            }
            let rows = model.failed + model.waiting
            switch Terminal.ask(Self.choose.text(in: model.language)) {
            case "", nil: return false
            case "s":
                await model.sendNow()
                for notice in model.notices where notice.actionLabel != nil {
                    if await model.perform(notice) == .signIn { return true }
                }
            case let choice?:
                guard let number = Int(choice), rows.indices.contains(number - 1) else { continue }
                if await act(on: rows[number - 1]) { return true }
            }
        }
    }

    /// Prints the lists.
    func draw() {
        Terminal.title(model.screenTitle)
        for notice in model.notices { Terminal.say("  ⚠ \(notice.text)") }
        var number = 0
        for (title, rows) in [(model.failedTitle, model.failed), (model.waitingTitle, model.waiting)] where !rows.isEmpty {
            Terminal.say("  \(title)")
            for row in rows {
                number += 1
                Terminal.say("  \(number)  \(row.title) · \(row.status)")
            }
        }
        for text in [model.hiddenText, model.emptyText].compactMap(\.self) { Terminal.say("  \(text)") }
    }

    /// Lets the user choose an action of a request.
    /// - Returns: Whether the user wants to sign in.
    private func act(on row: PendingRequest) async -> Bool {
        for (index, action) in row.actions.enumerated() { Terminal.say("    \(index + 1)  \(model.label(of: action))") }
        guard let number = Terminal.ask("   ").flatMap({ Int($0) }), row.actions.indices.contains(number - 1) else {
            return false
        }
        if await model.perform(row.actions[number - 1], on: row.id) == .signIn { return true }
        if let question = model.confirmation {
            Terminal.say("  ⚠ \(question.message)")
            let choice = Terminal.ask("    1 \(question.confirmLabel) · 2 \(question.cancelLabel)")
            if choice == "1" { await model.confirm(question) } else { model.dismissConfirmation() }
        }
        return false
    }
}
