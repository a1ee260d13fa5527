#if DEBUG
    import Holdfast
    import HoldfastTesting

    /// The states of registration, changes of the account, emailed links and sessions.
    extension ScreenState {
        static let accountForms = [
            form("Register: empty", submits: false) { .register($0, $1) },
            form("Register: typed", .spanish, texts: newAccount, submits: false) { .register($0, $1) },
            form("Register: right to left", .hebrew, texts: newAccount, submits: false) { .register($0, $1) },
            form("Register: without a password", submits: false) { stage, client in
                RegisterModel(client: client, language: stage.language, asksForPassword: false)
            },
            inFlight("Register: in flight", newAccount) { .register($0, $1) },
            form("Register: fields empty") { .register($0, $1) },
            form("Register: invalid name", texts: newAccount.merging([.firstName: "Ana 1"]) { $1 }) { .register($0, $1) },
            form("Register: password refused", texts: newAccount, steps: [.refusal(400, "AUTH_WEAK_PASSWORD")]) {
                .register($0, $1)
            },
            form("Register: address taken", texts: newAccount, steps: [.refusal(400, "AUTH_EMAIL_EXISTS")]) { .register($0, $1) },
            form("Register: closed", .french, texts: newAccount, steps: [.refusal(403, "AUTH_REGISTRATION_CLOSED")]) {
                .register($0, $1)
            },
            form("Register: limited", texts: newAccount, steps: [.refusal(429, "RATE_LIMIT_EXCEEDED", retryAfter: 45)]) {
                .register($0, $1)
            },
            form("Register: signed in", .portuguese, texts: newAccount, steps: [.session]) { .register($0, $1) },
            form("Register: check email", texts: newAccount, steps: [.registrationSent]) { .register($0, $1) },
            checkEmail("Check email: cooldown", steps: []),
            checkEmail("Check email: sent again", .spanish, steps: [.accepted]),
            checkEmail("Check email: offline", steps: [.offline]),
            form("Change password: empty", isSignedIn: true, submits: false) { .changePassword($0, $1) },
            form("Change password: passwords differ", isSignedIn: true, texts: passwords.merging([.confirmation: "x"]) { $1 }) {
                .changePassword($0, $1)
            },
            form("Change password: wrong password", .spanish, isSignedIn: true, texts: passwords, steps: [.wrongPassword]) {
                .changePassword($0, $1)
            },
            form("Change password: changed", isSignedIn: true, texts: passwords, steps: [.session]) { .changePassword($0, $1) },
            form("Change password: session expired", isSignedIn: true, texts: passwords, steps: [.sessionExpired]) {
                .changePassword($0, $1)
            },
            ScreenState("Change password: probably changed", steps: [.lost, .sessionExpired]) { stage in
                let model = stage.form(isSignedIn: true, passwords) { .changePassword($0, $1) }
                await model.submit()
                await model.perform(.retry)
                return .form(model)
            },
            form("Change email: empty", .german, isSignedIn: true, submits: false) { .changeEmail($0, $1) },
            form("Change email: wrong password", isSignedIn: true, texts: newEmail, steps: [.wrongPassword]) {
                .changeEmail($0, $1)
            },
            form("Change email: requested", isSignedIn: true, texts: newEmail, steps: [.accepted]) { .changeEmail($0, $1) },
            form("Delete account: empty", .french, isSignedIn: true, submits: false) { .deleteAccount($0, $1) },
            form("Delete account: wrong password", isSignedIn: true, texts: password, steps: [.wrongPassword]) {
                .deleteAccount($0, $1)
            },
            form("Delete account: deleted", .spanish, isSignedIn: true, texts: password, steps: [.deleted]) {
                .deleteAccount($0, $1)
            },
        ]

        static let accountLinks = [
            form("Verify: with the session", isSignedIn: true, submits: false) { .verifyEmail($0, $1) },
            form("Verify: with the password", .spanish, submits: false) { .verifyEmail($0, $1) },
            form("Verify: session of another account", isSignedIn: true, steps: [.linkRefused, .otherUser]) {
                .verifyEmail($0, $1)
            },
            form("Verify: verified", isSignedIn: true, steps: [.accepted]) { .verifyEmail($0, $1) },
            form("Verify: expired link", .german, texts: password, steps: [.linkRefused]) { .verifyEmail($0, $1) },
            form("Verify: invalid link", .french, submits: false) { stage, client in
                VerifyEmailModel(link: nil, client: client, language: stage.language)
            },
            form("Activate: empty", submits: false) { .activate($0, $1) },
            form("Activate: created", .portuguese, texts: passwords, steps: [.session]) { .activate($0, $1) },
            form("Activate: expired link", .hebrew, texts: passwords, steps: [.linkRefused]) { .activate($0, $1) },
            form("Confirm email: with the session", isSignedIn: true, submits: false) { .confirmEmail($0, $1) },
            form("Confirm email: changed", .spanish, texts: password, steps: [.accepted]) { .confirmEmail($0, $1) },
            form("Undo email: question", submits: false) { .undoEmail($0, $1) },
            form("Undo email: restored", steps: [.accepted]) { .undoEmail($0, $1) },
            form("Keep account: question", submits: false) { .keepAccount($0, $1) },
            form("Keep account: restored", .french, steps: [.accepted]) { .keepAccount($0, $1) },
            form("Keep account: expired link", steps: [.linkRefused]) { .keepAccount($0, $1) },
        ]

        static let devices = [
            ScreenState("Devices: loading", responses: 0) { stage in
                let model = stage.devices()
                model.work.start { await model.load() }
                return .devices(model)
            },
            ScreenState("Devices: loaded", .spanish, steps: [.devices]) { stage in
                let model = stage.devices()
                await model.load()
                return .devices(model)
            },
            ScreenState("Devices: others signed out", steps: [.devices, .noContent, .oneDevice]) { stage in
                let model = stage.devices()
                await model.load()
                await model.endOthers()
                return .devices(model)
            },
            ScreenState("Devices: failed", steps: [.offline]) { stage in
                let model = stage.devices()
                await model.load()
                return .devices(model)
            },
        ]

        private static let newAccount: [AccountField: String] = [
            .firstName: "Ana", .email: "ana@example.com", .password: "first password",
        ]
        private static let newEmail: [AccountField: String] = [.email: "new@example.com", .currentPassword: "first password"]
        private static let password: [AccountField: String] = [.currentPassword: "first password"]
        private static let passwords: [AccountField: String] = [
            .currentPassword: "first password", .password: "second password", .confirmation: "second password",
        ]

        private static func form(
            _ name: String,
            _ language: Language = .english,
            isSignedIn: Bool = false,
            texts: [AccountField: String] = [:],
            steps: [ScriptedTransport.Step] = [],
            submits: Bool = true,
            make: @escaping @MainActor (ScreenStage, AccountClient) -> FormModel
        ) -> ScreenState {
            ScreenState(name, language, steps: steps) { stage in
                let model = stage.form(isSignedIn: isSignedIn, texts, make)
                await model.open()
                if submits { await model.submit() }
                return .form(model)
            }
        }

        private static func inFlight(
            _ name: String,
            _ texts: [AccountField: String],
            make: @escaping @MainActor (ScreenStage, AccountClient) -> FormModel
        ) -> ScreenState {
            ScreenState(name, responses: 0) { stage in
                let model = stage.form(texts, make)
                model.work.start { await model.submit() }
                return .form(model)
            }
        }

        /// A mailbox screen: in its cooldown, or after the email was sent again.
        private static func checkEmail(
            _ name: String,
            _ language: Language = .english,
            steps: [ScriptedTransport.Step]
        ) -> ScreenState {
            ScreenState(name, language, steps: steps) { stage in
                let model = stage.form { .verifyEmail($0, $1) }
                guard let verification = model as? VerifyEmailModel,
                    let next = steps.isEmpty
                        ? stage.checkEmail() : verification.makeCheckEmailModel(clock: stage.clock)
                else { return .form(model) }
                if !steps.isEmpty { await next.submit() }
                return .form(next)
            }
        }
    }

    @MainActor
    extension FormModel {
        fileprivate static func register(_ stage: ScreenStage, _ client: AccountClient) -> FormModel {
            RegisterModel(client: client, language: stage.language, wallClock: { ScreenStage.start })
        }

        fileprivate static func changePassword(_ stage: ScreenStage, _ client: AccountClient) -> FormModel {
            ChangePasswordModel(client: client, language: stage.language, wallClock: { ScreenStage.start })
        }

        fileprivate static func changeEmail(_ stage: ScreenStage, _ client: AccountClient) -> FormModel {
            ChangeEmailModel(client: client, language: stage.language, wallClock: { ScreenStage.start })
        }

        fileprivate static func deleteAccount(_ stage: ScreenStage, _ client: AccountClient) -> FormModel {
            DeleteAccountModel(client: client, language: stage.language, wallClock: { ScreenStage.start })
        }

        fileprivate static func verifyEmail(_ stage: ScreenStage, _ client: AccountClient) -> FormModel {
            VerifyEmailModel(link: stage.link(.verifyEmail), client: client, language: stage.language)
        }

        fileprivate static func activate(_ stage: ScreenStage, _ client: AccountClient) -> FormModel {
            ActivateModel(link: stage.link(.activate), client: client, language: stage.language)
        }

        fileprivate static func confirmEmail(_ stage: ScreenStage, _ client: AccountClient) -> FormModel {
            ConfirmEmailModel(link: stage.link(.confirmEmail), client: client, language: stage.language)
        }

        fileprivate static func undoEmail(_ stage: ScreenStage, _ client: AccountClient) -> FormModel {
            ConfirmEmailModel(link: stage.link(.undoEmail), client: client, language: stage.language)
        }

        fileprivate static func keepAccount(_ stage: ScreenStage, _ client: AccountClient) -> FormModel {
            KeepAccountModel(link: stage.link(.keepAccount), client: client, language: stage.language)
        }
    }
#endif
