public import ErrorContract

extension LabScenario {
    /// Returns one scenario for each code of a catalogue. The name of a scenario is its code. Responses with the status 429 or 503 contain
    /// a delay of 2 s.
    /// - Parameter catalogue: The codes. They may include codes of an app.
    static func codes(_ catalogue: ErrorCatalogue) -> [LabScenario] {
        catalogue.definitions.map { definition in
            var response = LabResponse(.code(definition.code))
            if definition.namesDelay { response.retryAfter = .seconds(2) }
            return LabScenario(
                definition.code.rawValue,
                .codes,
                definition.summary + ".",
                advice: advice(for: definition.retry, definition.recovery),
                response,
                expected: [.failure(LabFailure(definition))]
            )
        }
    }

    /// Returns a description of a client's reaction to an error: its retries, and the action that it offers to the user.
    /// - Parameters:
    ///   - retry: The retry class. It determines what the client does automatically.
    ///   - recovery: The recovery. It determines what the user can do.
    /// - Returns: One sentence in English.
    public static func advice(for retry: RetryClass, _ recovery: Recovery) -> String {
        let automatic =
            switch retry {
            case .never: "Does not repeat the request by itself"
            case .afterRefresh: "Refreshes the session once for all calls, and repeats each call once"
            case .afterRefreshOrSignIn: "Refreshes if it has a refresh token, otherwise requests a sign-in; repeats the call once"
            case .afterSignIn: "Does not refresh: removes the credentials, requests a sign-in, repeats the call once"
            case .afterDelay: "Waits for the server's delay if it is short enough, then repeats the call"
            case .onlyAfterNamedDelay: "Repeats the call only if the server sends a delay that is short enough"
            case .withBackoff: "Backs off and repeats the call, if it is safe to repeat"
            }
        let offered =
            switch recovery {
            case .dismiss: "shows a message that the user can only dismiss"
            case .fixFields: "shows the problems next to the fields"
            case .signIn: "offers to sign in"
            case .wait: "shows when to try again"
            case .retry: "offers to try again"
            case .checkAgain: "offers to check whether the request took effect"
            case .requestNewLink: "offers to request a new link"
            case .contactSupport: "links to support"
            case .openSettings: "links to the settings"
            case .updateApp: "asks the user to update the app"
            }
        return "\(automatic); \(offered)."
    }
}

extension LabFailure {
    /// Creates the error that a client decodes from a response with a code. The error is the same for each form of the body, apart from the
    /// field problems.
    ///
    /// - Parameter hasFields: Whether the form can contain field problems.
    init(_ definition: ErrorDefinition, hasFields: Bool = true) {
        let isValidation = definition.family == .validation
        self.init(
            APIError.Kind(promisedFor: definition.status, isValidation: isValidation),
            definition.code,
            status: definition.status,
            retryAfter: definition.namesDelay ? 2...2 : nil,
            fields: hasFields && isValidation ? LabProblem.of(definition.code).map(\.field) : []
        )
    }
}

extension ErrorDefinition {
    /// Whether responses with the code contain a delay.
    var namesDelay: Bool { status == 429 || status == 503 }
}

extension APIError.Kind {
    /// Creates the kind of error that a client decodes from a response of this library's server with a status.
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - isValidation: Whether the code begins with `VALIDATION_`. For 4xx statuses without a specific kind, such codes get the kind
    ///     `validation`.
    fileprivate init(promisedFor status: Int, isValidation: Bool) {
        self =
            switch status {
            case 401: .unauthorized
            case 403: .forbidden
            case 404, 410: .notFound
            case 408, 500...599: .server
            case 409: .conflict
            case 429: .rateLimited
            default: isValidation ? .validation : .badRequest
            }
    }
}

extension LabScenario {
    /// Returns scenarios for three errors in every form: an error with field problems, an error with a delay, and an error of a session.
    /// The form `detail` can't contain field problems.
    /// - Parameter catalogue: The codes. If one of the three codes is missing, there are no scenarios for this code.
    static func forms(_ catalogue: ErrorCatalogue) -> [LabScenario] {
        let codes: [ErrorCode] = [.validationInvalidInput, .rateLimitExceeded, .authTokenExpired]
        return ErrorForm.allCases.flatMap { form in
            codes.compactMap { catalogue[$0] }.map { definition in
                let response = LabResponse(.code(definition.code)).with {
                    $0.form = form
                    if definition.namesDelay { $0.retryAfter = .seconds(2) }
                }
                return LabScenario(
                    "\(form.rawValue)-\(definition.code.rawValue)",
                    .forms,
                    "\(definition.code) in the form \(form.rawValue).",
                    advice: "Reads the same error from every form.",
                    response,
                    expected: [.failure(LabFailure(definition, hasFields: form != .detail))]
                )
            }
        }
    }

    /// One scenario for each ``LabFamily``. Its response has an error body in the format of another server.
    static var families: [LabScenario] {
        LabFamily.all.map { family in
            LabScenario(
                "family-\(family.name)",
                .families,
                "An error in the format of \(family.name).",
                advice: "Decodes status, code, delay and fields; shows only texts that were written for users.",
                LabResponse().with { $0.family = family.name },
                expected: [.failure(family.failure)]
            )
        }
    }
}
