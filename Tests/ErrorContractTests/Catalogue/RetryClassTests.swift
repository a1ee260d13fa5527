import ErrorContract
import Testing

@Suite struct RetryClassTests {
    @Test("A code has the retry class of the contract's table", arguments: ContractTable.retryClasses)
    func known(retry: RetryClass, codes: [ErrorCode]) {
        for code in codes {
            #expect(ErrorCatalogue.standard[code]?.retry == retry, "\(code)")
            for status in [400, 401, 429, 503] {
                #expect(
                    ErrorCatalogue.standard.retryClass(of: code, status: status) == retry,
                    "\(code) does not look at the status"
                )
            }
        }
    }

    @Test("The table contains every code")
    func complete() {
        let codes = ContractTable.retryClasses.flatMap(\.codes)
        #expect(codes.count == ErrorCatalogue.standard.definitions.count)
        #expect(Set(codes) == Set(ErrorCatalogue.standard.definitions.map(\.code)))
    }

    @Test(
        "Without a code, the class of the status decides",
        arguments: [
            (401, RetryClass.afterRefreshOrSignIn), (429, .afterDelay), (408, .withBackoff), (500, .withBackoff),
            (502, .withBackoff), (503, .withBackoff), (504, .withBackoff), (599, .withBackoff), (400, .never), (403, .never),
            (404, .never), (409, .never), (410, .never), (422, .never), (302, .never), (200, .never),
        ]
    )
    func noCode(status: Int, expected: RetryClass) {
        #expect(ErrorCatalogue.standard.retryClass(of: nil, status: status) == expected)
    }

    @Test(
        "Classifies an unknown code by longest known prefix, then family, then status",
        arguments: [
            ("AUTH_TOKEN_EXPIRED_SOON", 401, RetryClass.afterRefresh), ("SERVER_MAINTENANCE_LONG", 503, .onlyAfterNamedDelay),
            ("RATE_LIMIT_QUOTA_EXCEEDED_FREE_TIER", 429, .onlyAfterNamedDelay), ("AUTH_NEW", 401, .never),
            ("RATE_LIMIT_NEW", 429, .afterDelay), ("SERVER_NEW", 500, .withBackoff), ("API_KEY_REVOKED", 401, .never),
            ("SOCIAL_NEW", 401, .never), ("VALIDATION_NEW", 503, .never), ("REQUEST_NEW", 503, .never),
            ("PAYMENT_DECLINED", 402, .never), ("PAYMENT_GATEWAY_DOWN", 503, .withBackoff), ("lock_timeout", 429, .afterDelay),
            ("invalid_session", 401, .afterRefreshOrSignIn), ("AUTHORITY_DOWN", 503, .withBackoff),
        ]
    )
    func unknownCode(code: String, status: Int, expected: RetryClass) {
        #expect(ErrorCatalogue.standard.retryClass(of: ErrorCode(code), status: status) == expected)
    }
}
