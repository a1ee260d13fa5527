import Foundation
import TestSupport
import Testing

/// Checks the sources of the views for properties that the compiler does not check. `scripts/check-apple` compiles them.
@Suite("Sources of the views")
struct ViewSourceTests {
    private static let folder = Repository.root.appending(path: "Sources/App/AccountUI")
    private static let screens = [
        "SignInScreen", "ForgotPasswordScreen", "ResetPasswordScreen", "AccountFormScreen", "SessionsScreen", "ErrorLabView",
    ]

    /// Returns the source of a file without comments.
    private static func source(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name + ".swift"), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
            .filter { !$0.drop(while: \.isWhitespace).hasPrefix("//") }
            .joined(separator: "\n")
    }

    private static func sources() throws -> [(name: String, text: String)] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }.sorted()
            .map { ($0, try source(String($0.dropLast(6)))) }
    }

    /// Returns each call with its modifiers: up to the next line that is indented less or starts another statement.
    private static func calls(of name: String, in source: String) -> [String] {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.indices.compactMap { start in
            guard lines[start].contains(name + "(") else { return nil }
            let indent = lines[start].prefix { $0 == " " }.count
            let rest = lines[(start + 1)...].prefix { line in
                let own = line.prefix { $0 == " " }.count
                return own > indent || line.isEmpty || [")", "}", "."].contains(line.dropFirst(own).first) && own >= indent
            }
            return ([lines[start]] + rest).joined(separator: "\n")
        }
    }

    @Test("Every screen applies the modifier that runs actions and alerts at its root", arguments: screens)
    func rootModifier(name: String) throws {
        #expect(try Self.source(name).contains("\n            .screen("), "\(name).swift")
    }

    @Test("Only the root of a screen runs actions: no button, row or alert has a task")
    func noTasksInRows() throws {
        let allowed = [
            "Screen.swift": [
                ".task(id: model.work.request) { await model.work.run() }", ".task(id: model.focusRequest) { moveFocus() }",
            ],
            "ErrorAlert.swift": [".task(id: work.request) { await work.run() }"],
            "ForgotPasswordScreen.swift": [".task(id: model.isCoolingDown) { await model.runCountdown() }"],
            "ResetPasswordScreen.swift": [".task { await model.open() }"],
            "AccountFormScreen.swift": [
                ".task { await model.open() }", ".task(id: model.isCoolingDown) { await model.runCountdown() }",
            ],
            "SessionsScreen.swift": [".task { await model.load() }"],
            "ErrorLabView.swift": [".task { await model.load() }"],
        ]
        for (name, text) in try Self.sources() {
            let tasks = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { $0.contains(".task") || $0.contains("Task {") || $0.contains("Task(") }
            #expect(tasks == allowed[name, default: []], "\(name)")
        }
        let lines = try Self.screens.flatMap { name in
            try Self.source(name).split(separator: "\n").map { (name: name, text: $0) }
        }
        for call in [
            "model.submit()", "model.request()", "model.runAgain()", "model.run(scenario)", "model.end(session)",
            "model.endOthers()",
        ] {
            let callers = lines.filter { $0.text.contains(call) }
            #expect(!callers.isEmpty, "no screen calls \(call)")
            for (name, line) in callers { #expect(line.contains("model.work.start {"), "\(name): \(line)") }
        }
    }

    @Test("A screen's modifier sets form style, locale, direction, announcements and focus")
    func modifier() throws {
        let text = try Self.source("Screen")
        for part in [
            ".formStyle(.grouped)", ".environment(\\.locale, Locale(identifier: model.language.rawValue))",
            ".environment(\\.layoutDirection,", "AccessibilityNotification.Announcement(announcement.text).post()",
            ".id(ObjectIdentifier(model))", "didClose: { moveFocus() }", "model.dismissAlert($0)",
            // The next view of a model must not perform a request of its earlier view.
            "request.id != model.work.lastFocus", "model.work.lastFocus = request.id",
        ] {
            #expect(text.contains(part), "\(part)")
        }
        // Environment values in inner views would not apply to the whole screen.
        for (name, text) in try Self.sources() where name != "Screen.swift" {
            #expect(!text.contains(".environment(\\."), "\(name)")
        }
    }

    @Test("Password fields are private, have a content type and a place, and Tab skips one")
    func passwords() throws {
        let text = try Self.source("Fields")
        let body = String(try #require(text.split(separator: "struct ").first { $0.hasPrefix("PasswordField") }))
        let fields = Self.calls(of: "SecureField", in: body) + Self.calls(of: "TextField", in: body)
        #expect(fields.count == 2)
        for field in fields {
            for part in [
                ".privacySensitive()", ".passwordContent(isNew: isNew, isShown: ", ".focused(focus", ".opacity(",
                ".accessibilityHidden(", "isShown && !hasFocus(isShown: ",
            ] {
                #expect(field.contains(part), "\(part) in \(field)")
            }
        }
        #expect(body.contains("ZStack {") && body.contains(".onChange(of: isShown)"))
        #expect(!body.contains("if isShown"), "a field that is replaced loses the focus")
        for (name, text) in try Self.sources() where name != "Fields.swift" {
            #expect(!text.contains("SecureField("), "\(name) has a password field without the modifiers")
            #expect(!text.contains("TextField("), "\(name) has a field without the modifiers")
        }
    }

    @Test("Every platform has content types for AutoFill")
    func autoFill() throws {
        let text = try Self.source("Fields")
        #expect(text.matches(of: /textContentType\(\.username\)/).count == 3, "iOS, watchOS and macOS")
        let passwords = text.matches(of: /textContentType\(isShown \? isNew \? \.newPassword : \.password : nil\)/)
        #expect(passwords.count == 2, "macOS and the others")
        #expect(text.contains("#if os(macOS)\n        import AppKit"))
        #expect(text.contains(".content(of: field)") && text.contains("else { emailContent() }"))
        #expect(text.contains("textContentType(.givenName).textInputAutocapitalization(.words)"))
    }

    @Test("A success removes the password fields, so that the system offers to save them")
    func removesFields() throws {
        for (name, condition) in [
            ("SignInScreen", "if model.isFormShown { fields }"), ("ResetPasswordScreen", "} else if model.isFormShown {"),
            ("AccountFormScreen", "if let page = model.page {"),
        ] {
            #expect(try Self.source(name).contains(condition), "\(name)")
        }
    }

    @Test("Every text field has a submit label, handles Return and takes the focus")
    func returnKey() throws {
        let fields = try Self.source("Fields")
        #expect(fields.matches(of: /\.submitLabel\(submitLabel\)/).count == 2)
        #expect(fields.matches(of: /\.onSubmit \{ submit\(\) \}/).count == 2)
        #expect(fields.matches(of: /\.focused\(focus, equals:/).count == 3)
        let screens = try ["SignInScreen", "ForgotPasswordScreen", "ResetPasswordFields", "AccountFormScreen"]
            .map(Self.source).joined()
        let used = screens.matches(of: /(LineField|PasswordField)\(/).count
        #expect(used == 6 && screens.matches(of: /submit: \{ model\.returnPressed\(in:/).count == used)
        for name in ["SignInScreen", "ForgotPasswordScreen", "ResetPasswordScreen", "AccountFormScreen"] {
            let text = try Self.source(name)
            #expect(
                text.contains("@FocusState private var focus: FocusedField?") && text.contains("focus: { focus = "),
                "\(name)"
            )
        }
    }

    @Test("The reset screen has a read-only field with the username for password managers")
    func username() throws {
        let field = try #require(Self.source("Fields").split(separator: "struct ").first { $0.hasPrefix("UsernameField") })
        #expect(field.contains(".emailContent()") && field.contains(".disabled(true)") && field.contains(".constant(username)"))
        let form = try Self.source("ResetPasswordFields")
        let username = try #require(form.range(of: "UsernameField(")?.lowerBound)
        let password = try #require(form.range(of: "field(ContractText.newPassword")?.lowerBound)
        #expect(username < password)
    }

    @Test("Every screen has a prominent main button whose title shows the progress", arguments: screens.dropLast())
    func mainButton(name: String) throws {
        let button = try Self.source("PrimaryButton")
        #expect(button.contains(".buttonStyle(.borderedProminent)") && button.contains(".frame(maxWidth: .infinity)"))
        let calls = Self.calls(of: "PrimaryButton", in: try Self.source(name))
        #expect(
            calls.contains {
                $0.contains(/isBusy: (model\.state ==|model\.isBusy|!model\.isEnabled)/) && $0.contains("model.work.start {")
            },
            "\(name)"
        )
    }

    @Test("No row appears, disappears or changes its height while the user types or waits")
    func noJumpingRows() throws {
        let message = try #require(Self.source("Fields").split(separator: "struct ").first { $0.hasPrefix("FieldMessage") })
        #expect(message.contains("Text(text ?? \" \")"))
        for name in ["SignInScreen", "ForgotPasswordScreen", "ResetPasswordFields", "ResetPasswordScreen", "AccountFormScreen"] {
            let text = try Self.source(name)
            #expect(!text.contains("ProgressView()"), "\(name): progress is shown on the button")
            for line in text.split(separator: "\n") {
                #expect(!line.contains("FieldMessage(") || !line.contains("if "), "\(name): \(line)")
                #expect(!line.contains("StrengthMeter(") || !line.contains("if "), "\(name): \(line)")
            }
            #expect(!text.contains("if let problem") && !text.contains("if let strength"), "\(name)")
        }
    }

    @Test("VoiceOver elements have labels, and invisible ones are hidden from it")
    func labels() throws {
        for (name, text) in try Self.sources() {
            for call in Self.calls(of: "ProgressView", in: text) where call.contains("ProgressView()") {
                #expect(call.contains(".accessibilityHidden(true)"), "\(name): \(call)")
            }
            for call in Self.calls(of: "Image", in: text) {
                #expect(call.contains(".accessibility"), "\(name): \(call)")
            }
        }
        let fields = try Self.source("Fields")
        #expect(fields.matches(of: /(TextField|SecureField)\(label, text:/).count == 4)
        #expect(fields.contains(".accessibilityHidden(text == nil)"))
        #expect(fields.matches(of: /\.accessibilityHint\(problem/).count == 2, "VoiceOver reads the message at its field")
        #expect(fields.matches(of: /FieldMessage\(text: problem\)/).count == 2)
    }

    @Test("A button in a row with texts reacts only to taps on itself")
    func rowButtons() throws {
        for (name, row) in [("SessionsScreen", "SessionRow"), ("ErrorLabView", "LabScenarioRow")] {
            let body = try #require(Self.source(name).split(separator: "struct ").first { $0.hasPrefix(row) })
            let buttons = Self.calls(of: "Button", in: String(body))
            #expect(buttons.count == 1 && buttons.allSatisfy { $0.contains(".buttonStyle(.borderless)") }, "\(name)")
            #expect(buttons.allSatisfy { $0.contains(".accessibilityLabel(") }, "\(name): all rows have the same button")
        }
    }

    @Test("Every screen has a view controller for UIKit")
    func viewControllers() throws {
        let text = try Self.source("ViewControllers")
        for screen in ["SignIn", "ForgotPassword", "ResetPassword", "AccountForm", "Sessions"] {
            #expect(text.contains("public final class \(screen)ViewController: UIHostingController<\(screen)Screen>"))
        }
    }
}
