import AccountImport
import AccountServer
import ArgumentParser
import ErrorContract
import Foundation

extension Users {
    /// `holdfast users import`
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import the users of another system with their passwords.",
            discussion: """
                FILE has one of these formats, which is detected from its beginning:
                  CSV with a header: email, first_name, password_hash, state, locale, email_verified (only email is required; the names
                  name, password, is_active and deleted_at of Laravel and Django are also accepted)
                  JSON lines with the same members
                  the output of Django's `manage.py dumpdata auth.user`
                  Django's SQLite database (table auth_user)

                Supported password hashes: Django's pbkdf2_sha256 (at most 2,000,000 rounds), bcrypt ($2a$, $2b$, $2y$; also bcrypt$ and
                bcrypt_sha256$ of Django; at most 15) and Argon2id with one lane. They are verified in their format, and replaced by
                Argon2id at the user's next sign-in. A user without a hash starts with a password reset.

                Addresses count as verified, except those of users with a no as email_verified.

                Existing accounts are not changed, so an interrupted import can be repeated. Invalid users are reported with their line and
                skipped; the exit code is then 1. A server may run during the import.
                """
        )

        @Argument(help: "The file to import.", completion: .file())
        var file: String

        @Flag(help: "Read and check everything, and write nothing.")
        var dryRun = false

        @Option(
            help: "The language of users without one: \(Language.supported.map(\.rawValue).joined(separator: ", "))."
        )
        var locale = "en"

        @OptionGroup var data: DataOptions

        func validate() throws {
            guard Language.supported.contains(Language(locale)) else {
                throw ValidationError("--locale must be one of \(Language.supported.map(\.rawValue).joined(separator: ", "))")
            }
        }

        func run() async throws {
            let readings: [ImportFile.Reading]
            do {
                readings = try ImportFile.read(URL(fileURLWithPath: file))
            } catch let error as ImportFile.Unreadable {
                throw Terminal.failure("\(error.description).")
            }
            let scratch = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: scratch) }
            let configuration = try AccountServerConfiguration.load(data: data.folder, isServing: false)
            // A dry run creates no data folder, and no tables in a database.
            let usesScratch = dryRun ? try await data.isMissing(configuration) : false
            let stores = usesScratch ? try Stores(scratch) : try await data.stores(configuration)
            let accountImport = AccountImport(
                into: stores.accounts,
                records: stores.records,
                language: Language(locale),
                isDryRun: dryRun,
                now: { Date() }
            )
            let bar = ProgressBar()
            let progress = try await accountImport.run(readings) { place, reason in
                bar.clear()
                Terminal.complain("\(place): \(reason)")
            } report: {
                bar.show($0.done, of: $0.total)
            }
            bar.clear()
            Terminal.say(
                "\(progress.added) \(dryRun ? "would be added" : "added"), \(progress.present) existing, \(progress.refused) refused"
            )
            if progress.refused > 0 { throw ExitCode.failure }
        }
    }
}
