import Foundation
import PasswordHashes
import Testing

@Suite struct ImportedHashTests {
    @Test(
        "Verifies a password against the hash of another system",
        arguments: [
            // Django 5.2 (PBKDF2PasswordHasher at 1,000 rounds), its BCryptSHA256PasswordHasher, and Python's bcrypt.
            ("pbkdf2_sha256$1000$saltySalt12$gPoVwsmeKqqPhB+KMI0ElNqykiOV3cUEcng2uWtArwg=", "old password"),
            ("bcrypt_sha256$$2b$04$KZGNI8vZsCz.xXqPFLxDx.Mt8Mi4DIP4hm9oaR0BMr2yMbWIasNcK", "old password"),
            ("pbkdf2_sha256$1000$saltySalt12$Nbsm96UckafWoKxKhPEQbRw2c1VqciClUtwMZHQm1dk=", "пароль 🐈"),
            ("bcrypt_sha256$$2b$04$sFbZ3eaaF2BTsGGbP3Qo1OCy1wQBD/kokHJRDis0WZdpANYEJXjRy", "пароль 🐈"),
            (
                "bcrypt_sha256$$2b$04$YO0P0rKNkDdOIA9vY5BaVuYDKa1QRHeV3QJILiOFdBW/UqdFWOhdi",
                "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
            ),
            ("$2b$04$5Zp.blfNAjDNjlFyjN64eexCQ/wZ5FpZ.wTu/7k0zqIFyYKrAMyXC", "old password"),
            ("$2y$04$vPNIDCGtmTnXbNf4FbLJae2p6rh6HIx2z.qNgrXXqeV0J8lFYvNMy", "old password"),
            ("bcrypt$$2b$05$wUJ82Abdpkhy1qarlZHGBuYUPvtNDQt7lUMq9rNCF5sKqUuk0uEa6", "old password"),
        ]
    )
    func verify(_ hash: String, _ password: String) throws {
        let imported = try ImportedHash(hash)
        #expect(imported.verify(password))
        for wrong in ["", password + " ", String(password.dropLast()), "\u{0}", password + "\u{0}"] {
            #expect(!imported.verify(wrong))
        }
        // A verification against the decoy costs the same and never succeeds.
        let decoy = try ImportedHash(imported.decoy)
        #expect(!decoy.verify(password))
        #expect(decoy.decoy == imported.decoy)
    }

    @Test(
        "Refuses a hash that costs too much to verify",
        arguments: [
            "pbkdf2_sha256$2000001$salt$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "pbkdf2_sha256$99999999999999999999999999$salt$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
            "$2b$16$abcdefghijklmnopqrstuuVtaEwdJpHPKZHz1JCQqYK0eCjVBmSxm",
            "$2y$31$abcdefghijklmnopqrstuuVtaEwdJpHPKZHz1JCQqYK0eCjVBmSxm",
        ]
    )
    func tooCostly(_ hash: String) {
        #expect {
            try ImportedHash(hash)
        } throws: { error in
            if case ImportedHash.Refusal.tooCostly = error { true } else { false }
        }
    }

    @Test(
        "Refuses a text that is not a hash",
        arguments: [
            "", "$", "!", "plain", "pbkdf2_sha256", "pbkdf2_sha256$1000$salt", "pbkdf2_sha256$-5$salt$AAAA",
            "pbkdf2_sha256$0$salt$AAAA",
            "pbkdf2_sha256$1000$$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "pbkdf2_sha256$1000$salt$AAAA", "md5$salt$00",
            "$2b$04$short",
            "$2x$04$abcdefghijklmnopqrstuuVtaEwdJpHPKZHz1JCQqYK0eCjVBmSxm",
            "$2b$03$abcdefghijklmnopqrstuuVtaEwdJpHPKZHz1JCQqYK0eCjVBmSxm",
            "bcrypt$", "$1$salt$hash", "$argon2i$v=19$m=8,t=1,p=1$AAAA$AAAA", String(repeating: "a", count: 2_000),
            "pbkdf2_sha256$1000$s\u{0}lt$A",
        ]
    )
    func garbage(_ hash: String) {
        #expect(throws: ImportedHash.Refusal.self) { try ImportedHash(hash) }
    }
}
