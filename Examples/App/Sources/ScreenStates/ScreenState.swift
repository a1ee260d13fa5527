#if DEBUG
    import Holdfast
    import Foundation
    import HTTPTypes
    import HoldfastTesting
    import Synchronization

    /// A state of a screen, by its name. The previews show it, and a test compares it with a text snapshot.
    struct ScreenState: Sendable, Identifiable {
        /// The screen and its state, such as `Sign in: wrong password`.
        let name: String
        /// The language of the screen.
        let language: Language
        /// The responses of the server, in order.
        let steps: [ScriptedTransport.Step]
        /// How many requests get their responses; later ones stay in flight.
        let responses: Int
        /// Creates the model and brings it into the state.
        let make: @MainActor (ScreenStage) async -> ShownScreen

        var id: String { name }

        init(
            _ name: String,
            _ language: Language = .english,
            steps: [ScriptedTransport.Step] = [],
            responses: Int = .max,
            make: @escaping @MainActor (ScreenStage) async -> ShownScreen
        ) {
            (self.name, self.language, self.steps, self.responses, self.make) = (name, language, steps, responses, make)
        }

        /// Brings a new model into the state.
        @MainActor func show() async -> ShownScreen { await make(ScreenStage(self)) }
    }

    /// A screen with its model.
    @MainActor
    enum ShownScreen {
        case signIn(SignInModel)
        case forgotPassword(ForgotPasswordModel)
        case resetPassword(ResetPasswordModel)
        case form(FormModel)
        case devices(SessionsModel)
        case errorLab(ErrorLabModel)
        case notes(NotesModel)

        /// The part that every screen has.
        var model: any ScreenModel {
            switch self {
            case .signIn(let model): model
            case .forgotPassword(let model): model
            case .resetPassword(let model): model
            case .form(let model): model
            case .devices(let model): model
            case .errorLab(let model): model
            case .notes(let model): model
            }
        }
    }

    /// The server and the clocks of a state.
    @MainActor
    struct ScreenStage {
        /// 2025-11-04T10:30:00Z
        nonisolated static let start = Date(timeIntervalSince1970: 1_762_252_200)

        let language: Language
        private let transport: ScriptedTransport
        private let hold: HeldRequests
        let clock = ManualClock()

        init(_ state: ScreenState) {
            language = state.language
            transport = ScriptedTransport(state.steps)
            hold = HeldRequests(after: state.responses, clock: clock)
        }

        private var api: APIClient {
            // The literal is a valid URL.
            let url = URL(string: "https://api.example.com") ?? URL(filePath: "/")
            return APIClient(baseURL: url, transport: transport, language: language, middleware: [hold])
        }

        private func client(isSignedIn: Bool = false) -> AccountClient {
            let credentials = Credentials(accessToken: "access", refreshToken: "refresh", expiresAt: nil)
            return AccountClient(api: api, store: MemoryCredentialStore(isSignedIn ? credentials : nil))
        }

        func signIn(email: String = "ana@example.com", password: String = "a password") -> SignInModel {
            let model = SignInModel(client: client(), language: language, email: email, wallClock: { Self.start })
            model.password = password
            return model
        }

        func forgotPassword(email: String = "ana@example.com") -> ForgotPasswordModel {
            ForgotPasswordModel(client: client(), language: language, email: email, clock: clock, wallClock: { Self.start })
        }

        func resetPassword(hasLink: Bool = true, password: String = "", confirmation: String = "") -> ResetPasswordModel {
            let link = (try? ResetToken("a-token")).map { ResetLink(token: $0, email: nil) }
            let model = ResetPasswordModel(
                link: hasLink ? link : nil,
                client: client(),
                language: language,
                wallClock: { Self.start }
            )
            (model.password, model.confirmation) = (password, confirmation)
            return model
        }

        /// A form with the typed texts of its fields.
        func form(
            isSignedIn: Bool = false,
            _ texts: [AccountField: String] = [:],
            _ make: @MainActor (ScreenStage, AccountClient) -> FormModel
        ) -> FormModel {
            let model = make(self, client(isSignedIn: isSignedIn))
            for (field, text) in texts { model[field] = text }
            return model
        }

        func devices() -> SessionsModel {
            SessionsModel(client: client(isSignedIn: true), language: language, timeZone: .gmt, wallClock: { Self.start })
        }

        /// A link of an email.
        func link(_ purpose: AccountLink.Purpose, email: String? = "ana@example.com") -> AccountLink? {
            guard let token = try? ResetToken("a-token") else { return nil }
            return AccountLink(purpose, token: token, email: email.flatMap { try? EmailAddress($0) })
        }

        /// The screen after a blind registration.
        func checkEmail() -> CheckEmailModel? {
            let model = RegisterModel(client: client(), language: language, wallClock: { Self.start })
            (model[.email], model[.firstName]) = ("ana@example.com", "Ana")
            return model.makeCheckEmailModel(clock: clock)
        }

        func errorLab() -> ErrorLabModel {
            let model = ErrorLabModel(
                baseURL: api.baseURL,
                transport: transport,
                middleware: [hold],
                language: language,
                clock: clock,
                wallClock: { Self.start },
                newSession: { "session-1" }
            )
            model.followsAdvice = false
            return model
        }

        func notes() -> NotesModel { NotesModel(api: api, language: language) }
    }

    /// Lets some requests pass. The others stay in flight until they are canceled.
    private final class HeldRequests: ClientMiddleware {
        private let left: Mutex<Int>
        private let clock: ManualClock

        init(after count: Int, clock: ManualClock) {
            left = Mutex(count)
            self.clock = clock
        }

        func intercept(
            _ request: HTTPRequest,
            body: RequestBody?,
            context: CallContext,
            next: @Sendable (HTTPRequest, RequestBody?) async throws -> (HTTPResponse, ResponseBody)
        ) async throws -> (HTTPResponse, ResponseBody) {
            let passes = left.withLock { left in
                guard left > 0 else { return false }
                left -= 1
                return true
            }
            if !passes { try await clock.sleep(for: .seconds(86_400)) }
            return try await next(request, body)
        }
    }
#endif
