import ErrorContract

extension LabScenario {
    /// The same facts in every form.
    static func forms(_ catalogue: ErrorCatalogue, root: String) -> [LabScenario] {
        let codes: [ErrorCode] = [.validationInvalidInput, .rateLimitExceeded, .authTokenExpired]
        return ErrorForm.allCases.flatMap { form in
            codes.compactMap { catalogue[$0] }.map { definition in
                let answer = LabAnswer(.code(definition.code)).with {
                    $0.form = form
                    if definition.namesDelay { $0.retryAfter = .seconds(2) }
                }
                return LabScenario(
                    "\(form.rawValue)-\(definition.code.rawValue)",
                    .forms,
                    "\(definition.code) in the form \(form.rawValue).",
                    advice: "Reads the same error from every form.",
                    answer,
                    root: root,
                    expected: [.failure(LabFailure(definition, hasFields: form != .detail))]
                )
            }
        }
    }

    /// The error bodies of other servers.
    static func families(root: String) -> [LabScenario] {
        LabFamily.all.map { family in
            LabScenario(
                "family-\(family.name)",
                .families,
                "An error as \(family.name) writes it.",
                advice: "Reads status, code, delay and fields; shows no text that was not written for people.",
                LabAnswer().with { $0.family = family.name },
                root: root,
                expected: [.failure(family.failure)]
            )
        }
    }
}
