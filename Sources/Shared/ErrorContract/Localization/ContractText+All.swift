extension ContractText {
    /// Every text of the contract that does not belong to one code, its placeholders open.
    static let all: [LocalizedText] = limits + passwords + screens + labels + fields + general

    private static let limits = [
        tooManyAttemptsTitle, resetLimitedWait, resetLimitedLater, limitedWait, limitedLater,
        signInLimitedWait, signInLimitedLater, throttledWait, waitShort,
        unavailableWait, unavailableLater, tryAgainWait, resetCooldownTitle, resetCooldown, WaitPhrase.seconds,
        WaitPhrase.minutes, WaitPhrase.hours,
    ]
    private static let passwords = [
        weakPasswordTitle, passwordTooShort, passwordTooLong, passwordNeedsLettersAndDigits, passwordResemblesAccount,
        passwordCommon,
        strengthWeak, strengthMedium, strengthStrong, passwordsDiffer, passwordChanged,
    ]
    private static let screens = [
        fieldsEmpty, emailMissingTitle, emailMissing, emailMalformedTitle, emailMalformed, resetTitle, resetGreetingNamed,
        resetGreetingUnnamed, linkInvalidTitle, linkInvalid, linkExpiredTitle, linkExpired, resetSucceeded,
        resetProbablySucceeded,
        resetRequested, tokenInvalid,
    ]
    private static let labels = [
        confirm, cancel, accept, retry, checkAgain, signIn, requestNewLink, contactSupport, supportReference,
        supportReferenceLine, openSettings, updateApp, emailLabel,
        passwordLabel, showPassword, forgotPassword, sendLink, newPassword, confirmPassword,
    ]
    private static let fields = [valueTaken, valueOutOfRange, valueInvalid]
    private static let general = [sessionExpiredTitle, sessionExpired, errorTitle, unknownError, network, server]
}
