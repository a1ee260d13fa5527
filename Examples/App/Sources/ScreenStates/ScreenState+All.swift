#if DEBUG
    import Holdfast
    import ErrorLabContract
    import HoldfastTesting

    extension ScreenState {
        /// Every state that a screen has.
        static let all = signIn + forgotPassword + resetPassword + accountForms + accountLinks + devices + others

        private static let signIn = [
            ScreenState("Sign in: empty") { .signIn($0.signIn(email: "", password: "")) },
            ScreenState("Sign in: typed") { .signIn($0.signIn()) },
            ScreenState("Sign in: right to left", .hebrew) { .signIn($0.signIn()) },
            ScreenState("Sign in: password shown", .spanish) { stage in
                let model = stage.signIn()
                model.isPasswordShown = true
                return .signIn(model)
            },
            ScreenState("Sign in: in flight", .german, responses: 0) { stage in
                let model = stage.signIn()
                model.work.start { await model.submit() }
                return .signIn(model)
            },
            submitted("Sign in: fields empty", password: ""),
            submitted("Sign in: malformed address", email: "ana@"),
            submitted("Sign in: wrong password", .spanish, steps: [.refusal(401, "AUTH_INVALID_CREDENTIALS")]),
            submitted("Sign in: address refused", steps: [.emailRefused]),
            submitted("Sign in: suspended", steps: [.refusal(403, "AUTH_USER_SUSPENDED")]),
            submitted("Sign in: email not verified", steps: [.refusal(403, "AUTH_EMAIL_NOT_VERIFIED")]),
            ScreenState(
                "Sign in: link sent again",
                .spanish,
                steps: [.refusal(403, "AUTH_EMAIL_NOT_VERIFIED"), .accepted]
            ) { stage in
                let model = stage.signIn()
                await model.submit()
                await model.perform(.requestNewLink)
                return .signIn(model)
            },
            submitted("Sign in: account deleted", .german, steps: [.refusal(403, "AUTH_ACCOUNT_DELETED")]),
            submitted("Sign in: limited", .french, steps: [.refusal(429, "RATE_LIMIT_EXCEEDED", retryAfter: 45)]),
            submitted("Sign in: offline", .portuguese, steps: [.offline]),
            submitted("Sign in: server error", steps: [.refusal(500, "SERVER_INTERNAL_ERROR")]),
        ]

        private static func submitted(
            _ name: String,
            _ language: Language = .english,
            steps: [ScriptedTransport.Step] = [],
            email: String = "ana@example.com",
            password: String = "a password"
        ) -> ScreenState {
            ScreenState(name, language, steps: steps) { stage in
                let model = stage.signIn(email: email, password: password)
                await model.submit()
                return .signIn(model)
            }
        }

        private static let forgotPassword = [
            ScreenState("Forgot password: empty") { .forgotPassword($0.forgotPassword(email: "")) },
            ScreenState("Forgot password: in flight", responses: 0) { stage in
                let model = stage.forgotPassword()
                model.work.start { await model.request() }
                return .forgotPassword(model)
            },
            requested("Forgot password: address missing", .spanish, email: ""),
            requested(
                "Forgot password: address refused",
                steps: [.emailRefused]
            ),
            requested("Forgot password: sent", .spanish, steps: [.accepted]),
            requested("Forgot password: limited", steps: [.refusal(429, "RATE_LIMIT_EXCEEDED", retryAfter: 3_600)]),
            ScreenState("Forgot password: pressed in the cooldown", steps: [.accepted]) { stage in
                let model = stage.forgotPassword()
                await model.request()
                await model.request()
                return .forgotPassword(model)
            },
        ]

        private static func requested(
            _ name: String,
            _ language: Language = .english,
            steps: [ScriptedTransport.Step] = [],
            email: String = "ana@example.com"
        ) -> ScreenState {
            ScreenState(name, language, steps: steps) { stage in
                let model = stage.forgotPassword(email: email)
                await model.request()
                return .forgotPassword(model)
            }
        }

        private static let resetPassword = [
            ScreenState("Reset: link in validation", responses: 0) { stage in
                let model = stage.resetPassword()
                model.work.start { await model.open() }
                return .resetPassword(model)
            },
            ScreenState("Reset: validation failed", steps: [.offline]) { stage in
                let model = stage.resetPassword()
                await model.open()
                return .resetPassword(model)
            },
            ScreenState("Reset: invalid link", .spanish) { .resetPassword($0.resetPassword(hasLink: false)) },
            ScreenState("Reset: expired link", .spanish, steps: [.refusal(400, "AUTH_RESET_TOKEN_INVALID")]) { stage in
                let model = stage.resetPassword()
                await model.open()
                return .resetPassword(model)
            },
            opened("Reset: empty", .spanish),
            opened("Reset: typed", password: "Abcdefghijk1!", confirmation: "Abcdefghijk1!"),
            opened("Reset: passwords differ", .spanish, password: "abcdefgh1", confirmation: "abcdefgh2"),
            ScreenState("Reset: in flight", steps: [.linkIsGood], responses: 1) { stage in
                let model = stage.resetPassword(password: "second password", confirmation: "second password")
                await model.open()
                model.work.start { await model.submit() }
                return .resetPassword(model)
            },
            confirmed("Reset: too short", password: "short"),
            confirmed("Reset: password refused", steps: [.refusal(400, "AUTH_WEAK_PASSWORD")]),
            confirmed("Reset: server error", steps: [.refusal(500, "SERVER_INTERNAL_ERROR")]),
            confirmed("Reset: succeeded", .spanish, steps: [.accepted]),
            ScreenState(
                "Reset: probably succeeded",
                .spanish,
                steps: [.linkIsGood, .lost, .refusal(400, "AUTH_RESET_TOKEN_INVALID")]
            ) { stage in
                let model = stage.resetPassword(password: "second password", confirmation: "second password")
                await model.open()
                await model.submit()
                await model.perform(.retry)
                return .resetPassword(model)
            },
        ]

        private static func opened(
            _ name: String,
            _ language: Language = .english,
            password: String = "",
            confirmation: String = ""
        ) -> ScreenState {
            ScreenState(name, language, steps: [.linkIsGood]) { stage in
                let model = stage.resetPassword(password: password, confirmation: confirmation)
                await model.open()
                return .resetPassword(model)
            }
        }

        private static func confirmed(
            _ name: String,
            _ language: Language = .english,
            steps: [ScriptedTransport.Step] = [],
            password: String = "second password"
        ) -> ScreenState {
            ScreenState(name, language, steps: [.linkIsGood] + steps) { stage in
                let model = stage.resetPassword(password: password, confirmation: password)
                await model.open()
                await model.submit()
                return .resetPassword(model)
            }
        }

        private static let others = [
            ScreenState("Error lab: idle") { .errorLab($0.errorLab()) },
            ScreenState("Error lab: failed", steps: [.refusal(403, "AUTH_USER_SUSPENDED")]) { stage in
                let model = stage.errorLab()
                if let scenario = model.scenarios.first(where: { $0.name == "AUTH_USER_SUSPENDED" }) { await model.run(scenario) }
                return .errorLab(model)
            },
            ScreenState("Notes: loading", responses: 0) { stage in
                let model = stage.notes()
                model.work.start { await model.load() }
                return .notes(model)
            },
            ScreenState("Notes: loaded", steps: [.notes]) { stage in
                let model = stage.notes()
                await model.load()
                return .notes(model)
            },
            ScreenState("Notes: failed", .spanish, steps: [.response(status: 503)]) { stage in
                let model = stage.notes()
                await model.load()
                return .notes(model)
            },
        ]
    }
#endif
