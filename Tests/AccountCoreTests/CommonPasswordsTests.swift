import AccountContract
import ErrorContract
import HoldfastTesting
import Testing

@testable import AccountCore

@Suite struct CommonPasswordsTests {
    private let policy = PasswordPolicy(minimumLength: 6)

    private func isCommon(_ text: String) throws -> Bool {
        policy.weaknesses(of: try Password(text), email: nil, firstName: nil).contains(.common)
    }

    @Test(
        "Refuses a password of Django's or zxcvbn's list",
        arguments: [
            "password", "123456", "123456789", "qwerty123", "iloveyou", "dragon", "letmein", "trustno1",
            "0000000000",
            "zzzzzz", "1q2w3e4r5t", "!@#$%^", "starwars", "administrator", "changeme", "passw0rd", "password1", "superman",
        ]
    )
    func listed(_ text: String) throws {
        #expect(try isCommon(text))
    }

    @Test(
        "Refuses a common password with uppercase, digits, signs or wide letters in it",
        arguments: ["PassWord", "P@ssw0rd", "p4$$w0rd", "1L0v3y0u", "!LOVEYOU", "5t4rw4r5", "ＰＡＳＳＷＯＲＤ", "tru5tn01", "$up3rm4n"]
    )
    func disguised(_ text: String) throws {
        #expect(try isCommon(text))
    }

    @Test(
        "Accepts passwords that are not on the list",
        arguments: [
            "correct horse battery", "password of Ana's cat", "another good password", "пароль котика", "zq4t;8mx", "סיסמה ארוכה",
        ]
    )
    func others(_ text: String) throws {
        #expect(try !isCommon(text))
    }

    @Test("Refuses at most a few of 20,000 random passwords (4 lookups, 1 in 2^18 wrong)")
    func falsePositives() throws {
        var random = SplitMix64(seed: 2_026)
        let letters = Array("abcdefghijkmnpqrstuvwxyz2345678?-_")
        let wrong = try (0..<20_000).count { _ in
            try isCommon(String((0..<12).map { _ in letters.randomElement(using: &random) ?? "a" }))
        }
        // 0.31 are expected. 5 would occur for one of a million seeds.
        #expect(wrong < 5)
    }

    @Test("The list has at least 35,000 distinct passwords")
    func size() {
        #expect(CommonPasswords.count >= 35_000)
        #expect(Set(CommonPasswords.places).count > CommonPasswords.count - 10)
    }

    @Test("Does not find a very long password on the list")
    func long() throws {
        #expect(try !isCommon(String(repeating: "password", count: 32)))
    }
}
