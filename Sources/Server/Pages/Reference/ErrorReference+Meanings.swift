import ErrorContract

/// What the short words of the catalogue mean, for developers, in English.
extension ErrorReference {
    static func meaning(of retry: RetryClass) -> String {
        switch retry {
        case .never: "Never by itself: the same request would fail again."
        case .afterRefresh: "Refreshes the session once, shared by all callers, and repeats once."
        case .afterRefreshOrSignIn:
            "Refreshes if it has a refresh token, else asks the person to sign in; repeats once."
        case .afterSignIn: "Never refreshes: clears the credentials, asks the person to sign in, repeats once."
        case .afterDelay: "Waits as told, if the wait fits its cap and its deadline, and repeats."
        case .onlyAfterNamedDelay: "Repeats only if the server names a delay that fits its cap and its deadline."
        case .withBackoff: "Backs off and repeats, if the request is safe to repeat."
        }
    }

    static func meaning(of recovery: Recovery) -> String {
        switch recovery {
        case .dismiss: "Nothing to do but to take note."
        case .fixFields: "Correct the input."
        case .signIn: "Sign in again."
        case .wait: "Wait, then repeat."
        case .retry: "Repeat."
        case .checkAgain: "Find out whether the request took effect, without sending it again."
        case .requestNewLink: "Ask for a new link."
        case .contactSupport: "Write to support."
        case .openSettings: "Change something in the settings: a key, a connected account."
        case .updateApp: "Install a newer version of the app."
        }
    }
}
