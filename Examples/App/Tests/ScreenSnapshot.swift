import ErrorLabContract
import Foundation
import Holdfast

/// A screen as text: the rows of its form, then the alert, the focus and the announcement.
@MainActor
struct ScreenSnapshot {
    private let screen: ShownScreen
    private var lines: [String] = []

    /// Renders a screen as the views do, from the values of its model.
    static func text(of screen: ShownScreen) -> String {
        var snapshot = ScreenSnapshot(screen: screen)
        snapshot.render()
        return snapshot.lines.joined(separator: "\n")
    }

    private init(screen: ShownScreen) { self.screen = screen }

    private mutating func render() {
        switch screen {
        case .signIn(let model): render(model)
        case .forgotPassword(let model): render(model)
        case .resetPassword(let model): render(model)
        case .form(let model): render(model)
        case .devices(let model): render(model)
        case .errorLab(let model): render(model)
        case .notes(let model): render(model)
        }
        let model = screen.model
        if let shown = model.currentAlert {
            let alert = shown.presentation
            let message = shown.message(in: model.language, catalogue: model.catalogue).replacing("\n\n", with: " / ")
            let labels =
                [alert.primaryLabel(in: model.language, catalogue: model.catalogue)]
                + [alert.secondaryLabel(in: model.language, catalogue: model.catalogue)].compactMap { $0 }
            lines.append("alert: \(alert.title) · \(message) \(labels.map { "<\($0)>" }.joined(separator: " "))")
        }
        if let request = model.focusRequest { lines.append("focus: \(request.field)") }
        if let announcement = model.announcement { lines.append("announced: \(announcement.text)") }
    }

    private mutating func render(_ model: SignInModel) {
        title(ContractText.signIn)
        field(ContractText.emailLabel, model.email, problem: model.problem(at: .email))
        password(
            ContractText.passwordLabel,
            model.password,
            isShown: model.isPasswordShown,
            problem: model.problem(at: .password)
        )
        lines.append("(\(model.isPasswordShown ? "x" : " ")) \(text(ContractText.showPassword))")
        button(model.submitTitle, isEnabled: model.isSubmitEnabled)
        button(text(ContractText.forgotPassword), isEnabled: model.state != .signingIn)
    }

    private mutating func render(_ model: ForgotPasswordModel) {
        title(ContractText.forgotPassword)
        field(ContractText.emailLabel, model.email, problem: model.problem(at: .email))
        button(model.requestTitle, isEnabled: model.isRequestEnabled)
        if let message = model.requestedMessage { lines.append(message) }
    }

    private mutating func render(_ model: ResetPasswordModel) {
        title(ContractText.resetTitle)
        if let page = model.deadLink {
            lines += [page.title, page.message]
            button(page.primaryLabel(in: model.language, catalogue: model.catalogue))
            if let label = page.secondaryLabel(in: model.language, catalogue: model.catalogue) { button(label) }
        } else if let message = model.successText {
            lines.append(message)
            button(text(ContractText.signIn))
        } else if model.isFormShown {
            lines.append(model.greeting)
            if let username = model.username { field(ContractText.emailLabel, username, problem: nil) }
            password(
                ContractText.newPassword,
                model.password,
                isShown: model.isPasswordShown,
                problem: model.problem(at: .password)
            )
            if let strength = model.strengthText { lines.append("    \(strength)") }
            let confirmation = model.problem(at: .confirmation)
            password(ContractText.confirmPassword, model.confirmation, isShown: model.isPasswordShown, problem: confirmation)
            lines.append("(\(model.isPasswordShown ? "x" : " ")) \(text(ContractText.showPassword))")
            button(model.submitTitle, isEnabled: model.isSubmitEnabled)
            button(text(ContractText.cancel), isEnabled: model.state != .submitting)
        } else {
            button(model.openTitle, isEnabled: model.isOpenEnabled)
        }
    }

    private mutating func render(_ model: FormModel) {
        lines.append("# \(model.title)")
        if let page = model.page {
            lines += [model.heading, page.message].compactMap(\.self)
            button(model.pageTitle ?? "")
            if let label = model.secondPageTitle { button(label) }
            return
        }
        if let introduction = model.introduction { lines.append(introduction) }
        if let username = model.username { lines.append("[\(model.label(of: .email)): \(username)]") }
        for field in model.fields {
            let isHidden = field.isPassword && !model.isPasswordShown
            let value = isHidden ? String(repeating: "•", count: model[field].count) : model[field]
            lines.append("[\(model.label(of: field)): \(value)]")
            if let problem = model.problem(at: field) { lines.append("    \(problem)") }
            if field == .password, let strength = model.strengthText { lines.append("    \(strength)") }
        }
        if model.hasPasswords { lines.append("(\(model.isPasswordShown ? "x" : " ")) \(text(ContractText.showPassword))") }
        button(model.submitTitle, isEnabled: model.isSubmitEnabled)
        if let notice = model.notice { lines.append(notice) }
    }

    private mutating func render(_ model: SessionsModel) {
        lines.append("# \(model.title)")
        guard let sessions = model.sessions else {
            button(model.loadTitle, isEnabled: model.isEnabled)
            return
        }
        for session in sessions {
            lines.append("\(model.name(of: session)) · \(model.detail(of: session))")
            if !session.isCurrent { button(model.endTitle, isEnabled: model.isEnabled) }
        }
        if model.hasOthers { button(model.endOthersTitle, isEnabled: model.isEnabled) }
    }

    private mutating func render(_ model: ErrorLabModel) {
        lines.append("# Error lab")
        if let run = model.lastRun { lines.append("\(run.scenario.name): \(run.error?.code.rawValue ?? "succeeded")") }
        lines.append("\(model.sections.count) sections")
    }

    private mutating func render(_ model: NotesModel) {
        lines.append("# Notes")
        lines += model.notes?.map { "- \($0.title)" } ?? [model.isLoading ? "loading" : "no notes"]
        if model.notes == nil, !model.isLoading { button("Try Again") }
    }

    private mutating func title(_ title: LocalizedText) { lines.append("# \(text(title))") }

    private mutating func field(_ label: LocalizedText, _ value: String, problem: String?) {
        lines.append("[\(text(label)): \(value)]")
        if let problem { lines.append("    \(problem)") }
    }

    private mutating func password(_ label: LocalizedText, _ value: String, isShown: Bool, problem: String?) {
        field(label, isShown ? value : String(repeating: "•", count: value.count), problem: problem)
    }

    private mutating func button(_ title: String, isEnabled: Bool = true) {
        lines.append(isEnabled ? "<\(title)>" : "<\(title)> disabled")
    }

    private func text(_ text: LocalizedText) -> String { screen.model.catalogue.text(text, in: screen.model.language) }
}
