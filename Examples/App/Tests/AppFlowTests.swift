import Foundation
import HTTPTypes
import Holdfast
import HoldfastTesting
import Testing

@MainActor
@Suite("The example app", .timeLimit(.minutes(1)))
struct AppFlowTests {
    private let transport: ScriptedTransport
    private let app: AppModel

    init() throws {
        transport = ScriptedTransport([
            .refusal(401, "AUTH_INVALID_CREDENTIALS"), .session, .response(status: 503), .notes, .accepted, .linkIsGood,
            .accepted, .session, .notes, .noContent,
        ])
        let server = try #require(URL(string: "https://api.example.com"))
        let services = AppServices(baseURL: server, language: .english, transport: transport)
        app = AppModel(services: services, language: .english)
    }

    /// Runs the work that a button started, as the root of its screen does.
    private func press(_ work: ScreenWork, _ action: @escaping @MainActor () async -> Void) async {
        work.start(action)
        await work.run()
    }

    private func signInModel() throws -> SignInModel {
        guard case .signIn(let model) = app.root else { throw Unexpected(what: "root", is: "\(app.root)") }
        return model
    }

    private func notesModel() throws -> NotesModel {
        guard case .notes(let model) = app.root else { throw Unexpected(what: "root", is: "\(app.root)") }
        return model
    }

    private struct Unexpected: Error {
        let what: String
        let `is`: String
    }

    @Test("Signs in, retries the list, resets by link, signs in again and signs out")
    func story() async throws {
        await app.launch()
        var signIn = try signInModel()
        (signIn.email, signIn.password) = ("ana@example.com", "wrong password")
        await press(signIn.work) { await signIn.submit() }
        app.signInChanged()
        #expect(signIn.alert?.message == "Invalid email or password" && signIn.focusRequest?.field == .password)
        signIn.dismissAlert()
        signIn.password = "first password"
        signIn.returnPressed(in: .password)
        await signIn.work.run()
        app.signInChanged()

        var notes = try notesModel()
        await notes.load()
        let alert = try #require(notes.currentAlert)
        #expect(alert.presentation.primary == .retry && notes.notes == nil)
        notes.dismissAlert(alert.id)
        await press(notes.work) { await notes.perform(alert.presentation.primary) }
        #expect(notes.notes?.map(\.title) == ["Milk", "Bread"] && notes.currentAlert == nil)

        app.showForgotPassword()
        guard case .forgotPassword(let forgot) = app.sheet else {
            throw Unexpected(what: "sheet", is: "\(String(describing: app.sheet))")
        }
        forgot.email = "ana@example.com"
        await press(forgot.work) { await forgot.request() }
        #expect(forgot.requestedMessage != nil && !forgot.isRequestEnabled)

        app.open(try #require(URL(string: "https://accounts.example.com/reset-password?token=a-token")))
        guard case .resetPassword(let reset) = app.sheet else {
            throw Unexpected(what: "sheet", is: "\(String(describing: app.sheet))")
        }
        await reset.open()
        #expect(reset.greeting == "Hello Ana, enter your new password")
        (reset.password, reset.confirmation) = ("second password", "second password")
        await press(reset.work) { await reset.submit() }
        #expect(reset.successText != nil)
        await press(app.work) { await app.signIn(after: reset) }

        signIn = try signInModel()
        #expect(app.sheet == nil && signIn.email == "ana@example.com")
        signIn.password = "second password"
        await press(signIn.work) { await signIn.submit() }
        app.signInChanged()
        notes = try notesModel()
        await notes.load()
        #expect(notes.notes?.count == 2)
        await press(app.work) { await app.signOut() }
        _ = try signInModel()

        let paths = transport.sent.map { $0.request.path ?? "" }
        #expect(
            paths == [
                "/api/auth/login", "/api/auth/login", "/notes", "/notes", "/api/request-password-reset/",
                "/api/validate-reset-token/", "/api/confirm-password-reset/", "/api/auth/login", "/notes", "/api/auth/logout",
            ]
        )
        let authorized = transport.sent.filter { $0.request.headerFields[.authorization] == "Bearer access" }
        #expect(authorized.compactMap(\.request.path) == ["/notes", "/notes", "/notes"])
    }

    @Test("A reset link opens the reset; a broken link opens the page for invalid links")
    func links() async throws {
        await app.launch()
        app.open(try #require(URL(string: "holdfast-example://reset-password?token=a-token")))
        guard case .resetPassword(let model) = app.sheet else { throw Unexpected(what: "sheet", is: "none") }
        #expect(model.deadLink == nil)
        app.open(try #require(URL(string: "https://accounts.example.com/reset-password")))
        guard case .resetPassword(let broken) = app.sheet else { throw Unexpected(what: "sheet", is: "none") }
        #expect(broken.deadLink?.title == "Invalid Link")
        app.perform(.dismiss)
        app.open(try #require(URL(string: "https://other.example.com/reset-password?token=a-token")))
        #expect(app.sheet == nil)
    }

    @Test("An expired link leads to the request for a new one")
    func expiredLink() async throws {
        await app.launch()
        app.open(try #require(URL(string: "https://accounts.example.com/reset-password")))
        app.perform(.requestNewLink)
        guard case .forgotPassword = app.sheet else { throw Unexpected(what: "sheet", is: "none") }
    }

    /// An app over a script, after its launch.
    private func launched(_ steps: [ScriptedTransport.Step]) async throws -> AppModel {
        let server = try #require(URL(string: "https://api.example.com"))
        let app = AppModel(
            services: AppServices(baseURL: server, language: .english, transport: ScriptedTransport(steps)),
            language: .english
        )
        await app.launch()
        return app
    }

    /// Returns the form that is shown as a sheet.
    private func form(_ app: AppModel) throws -> FormModel {
        guard case .form(let model) = app.sheet else { throw Unexpected(what: "sheet", is: "\(String(describing: app.sheet))") }
        return model
    }

    /// Fills and submits the form, and returns it with its page.
    private func submit(_ app: AppModel, _ texts: [AccountField: String]) async throws -> (FormModel, ErrorPresentation) {
        let model = try form(app)
        await model.open()
        for (field, text) in texts { model[field] = text }
        await press(model.work) { await model.submit() }
        return (model, try #require(model.page, "\(model.state)"))
    }

    /// Fills and submits the form, and leaves its page.
    private func finish(_ app: AppModel, _ texts: [AccountField: String]) async throws {
        let (model, page) = try await submit(app, texts)
        await press(model.work) { if let action = await model.perform(page.primary) { app.perform(action) } }
        // The root view runs the work of the app.
        await app.work.run()
    }

    @Test("Registers, changes the account, and deletes it")
    func account() async throws {
        let app = try await launched([.session, .session, .accepted, .devices, .deleted])
        app.showRegistration()
        try await finish(app, [.firstName: "Ana", .email: "ana@example.com", .password: "first password"])
        guard case .notes = app.root, app.sheet == nil else { throw Unexpected(what: "root", is: "\(app.root)") }
        app.show(.changePassword)
        try await finish(
            app,
            [.currentPassword: "first password", .password: "second password", .confirmation: "second password"]
        )
        app.show(.changeEmail)
        try await finish(app, [.email: "new@example.com", .currentPassword: "second password"])
        app.show(.devices)
        guard case .devices(let devices) = app.sheet else { throw Unexpected(what: "sheet", is: "none") }
        await devices.load()
        #expect(devices.sessions?.count == 2)
        app.show(.deleteAccount)
        try await finish(app, [.currentPassword: "second password"])
        guard case .signIn = app.root, app.sheet == nil else { throw Unexpected(what: "root", is: "\(app.root)") }
    }

    @Test("To close the sheet of a finished form has the same effect as its button")
    func closedSheets() async throws {
        let app = try await launched([.session, .deleted])
        app.showRegistration()
        _ = try await submit(app, [.firstName: "Ana", .email: "ana@example.com", .password: "first password"])
        app.sheet = nil
        guard case .notes = app.root else { throw Unexpected(what: "root", is: "\(app.root)") }
        app.show(.deleteAccount)
        _ = try await submit(app, [.currentPassword: "first password"])
        app.sheet = nil
        guard case .signIn = app.root else { throw Unexpected(what: "root", is: "\(app.root)") }
    }

    @Test("A sheet that is opened again has another number, although its model is the same")
    func sheetNumbers() async throws {
        let app = try await launched([])
        #expect(app.sheetNumber == nil)
        app.showForgotPassword()
        let first = try #require(app.sheetNumber)
        app.showForgotPassword()
        #expect(app.sheetNumber == first, "the sheet stayed open")
        app.sheet = nil
        #expect(app.sheetNumber == nil)
        app.showForgotPassword()
        #expect(try #require(app.sheetNumber) != first)
    }

    @Test("A store that can't be read at the launch does not lead to the sign-in")
    func lockedStore() async throws {
        let server = try #require(URL(string: "https://api.example.com"))
        let app = AppModel(
            services: AppServices(baseURL: server, language: .english, store: LockedStore()),
            language: .english
        )
        await app.launch()
        guard case .notes = app.root else { throw Unexpected(what: "root", is: "\(app.root)") }
    }

    /// A keychain before the first unlock of the device.
    private struct LockedStore: CredentialStore {
        func load() async throws -> Credentials? { throw CocoaError(.fileReadNoPermission) }
        func save(_ credentials: Credentials?) async throws { throw CocoaError(.fileWriteNoPermission) }
    }

    @Test("A blind registration leads to the mailbox, and its link to the notes")
    func blind() async throws {
        let app = try await launched([.registrationSent, .session])
        app.showRegistration()
        try await finish(app, [.firstName: "Ana", .email: "ana@example.com", .password: "first password"])
        #expect(try form(app) is CheckEmailModel)
        app.open(try #require(URL(string: "https://accounts.example.com/activate?token=a-token")))
        try await finish(app, [.password: "first password", .confirmation: "first password"])
        guard case .notes = app.root, app.sheet == nil else { throw Unexpected(what: "root", is: "\(app.root)") }
    }

    @Test(
        "Each account link opens its form; a broken link opens its own page",
        arguments: ["verify-email", "activate", "confirm-email", "undo-email", "keep-account"]
    )
    func accountLinks(page: String) async throws {
        let app = try await launched([])
        app.open(try #require(URL(string: "holdfast-example://\(page)?token=a-token")))
        let model = try form(app)
        #expect((model as? AccountLinkModel)?.link?.purpose.page == page && model.page == nil)
        app.open(try #require(URL(string: "https://accounts.example.com/\(page)?token=")))
        #expect(try form(app).page?.title == "Invalid Link")
    }

    @Test("Each account link leads to its next screen")
    func nextScreens() async throws {
        let app = try await launched([.linkRefused, .accepted, .accepted])
        app.open(try #require(URL(string: "https://accounts.example.com/verify-email?token=a&email=ana%40example.com")))
        try await finish(app, [.currentPassword: "first password"])
        #expect(try form(app) is CheckEmailModel)
        app.open(try #require(URL(string: "https://accounts.example.com/undo-email?token=a&email=ana%40example.com")))
        try await finish(app, [:])
        guard case .forgotPassword(let forgot) = app.sheet else { throw Unexpected(what: "sheet", is: "none") }
        #expect(forgot.email == "ana@example.com")
        app.open(try #require(URL(string: "https://accounts.example.com/keep-account?token=a")))
        try await finish(app, [:])
        guard case .signIn = app.root, app.sheet == nil else { throw Unexpected(what: "sheet", is: "still shown") }
    }

    @Test("The cooldown continues while the screen for a new link is not shown")
    func cooldown() async throws {
        let server = try #require(URL(string: "https://api.example.com"))
        let services = AppServices(baseURL: server, language: .english, transport: ScriptedTransport([.accepted]))
        let app = AppModel(services: services, language: .english)
        await app.launch()
        let signIn = try #require({ if case .signIn(let model) = app.root { model } else { nil } }())
        signIn.email = "ana@example.com"
        app.showForgotPassword()
        guard case .forgotPassword(let forgot) = app.sheet else { throw Unexpected(what: "sheet", is: "none") }
        #expect(forgot.email == "ana@example.com")
        await forgot.request()
        app.sheet = nil
        app.showForgotPassword()
        guard case .forgotPassword(let again) = app.sheet else { throw Unexpected(what: "sheet", is: "none") }
        #expect(again.isCoolingDown)
    }

    @Test("The clients of the app sign in, list notes and sign out over real sockets")
    func realSockets() async throws {
        let server = try LoopbackServer { received in
            let line = received.head.first ?? ""
            let step: ScriptedTransport.Step = line.contains("login") ? .session : line.contains("notes") ? .notes : .noContent
            guard case .response(let status, _, let body) = step else { return .hangUp }
            let fields = "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\nConnection: close"
            return .respond("HTTP/1.1 \(status) OK\r\n\(fields)\r\n\r\n\(body)")
        }
        let services = AppServices(
            baseURL: try #require(URL(string: server.origin)),
            language: .english,
            store: MemoryCredentialStore()
        )
        let app = AppModel(services: services, language: .english)
        await app.launch()
        guard case .signIn(let signIn) = app.root else { throw Unexpected(what: "root", is: "\(app.root)") }
        (signIn.email, signIn.password) = ("ana@example.com", "first password")
        await press(signIn.work) { await signIn.submit() }
        app.signInChanged()
        guard case .notes(let notes) = app.root else { throw Unexpected(what: "root", is: "\(app.root)") }
        await notes.load()
        #expect(notes.notes?.count == 2)
        await press(app.work) { await app.signOut() }
        guard case .signIn = app.root else { throw Unexpected(what: "root", is: "\(app.root)") }
        #expect(
            server.received.map { $0.head.first ?? "" }.map { $0.split(separator: " ")[1] } == [
                "/api/auth/login", "/notes", "/api/auth/logout",
            ]
        )
        await server.close()
    }
}
