import AccountImport
import AccountServer
import ArgumentParser
import ErrorContract
import Foundation

extension Users {
    /// `holdfast users import`
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bring the people of another system in, with the passwords they have.",
            discussion: """
                FILE is one of these; which one is read off its beginning:
                  CSV with a head: email, first_name, password_hash, state, locale (all but email may be left out; name,
                  password, is_active and deleted_at are read too, as Laravel and Django name them)
                  JSON lines with the same members
                  what `manage.py dumpdata auth.user` of Django writes
                  Django's SQLite database itself (table auth_user)

                Password hashes may be Django's pbkdf2_sha256 (at most 2,000,000 rounds), bcrypt ($2a$, $2b$, $2y$; also bcrypt$ and
                bcrypt_sha256$ of Django; at most 15) and Argon2id of one lane. They are verified as they are, and replaced by Argon2id
                when the person next signs in. Without a hash a person begins with a password reset.

                Who has an account already is left as is, so that an import that was interrupted is simply started again. What can't be
                imported is told with its line, and the others are imported; the exit code is then 1. The server may run meanwhile.
                """
        )

        @Argument(help: "The file to import.", completion: .file())
        var file: String

        @Flag(help: "Read and check all, and write nothing.")
        var dryRun = false

        @Option(
            help: "The language of people of whom none is said: \(Language.supported.map(\.rawValue).joined(separator: ", "))."
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
                Terminal.complain("\(error.description).")
                throw ExitCode.failure
            }
            let scratch = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: scratch) }
            // What is only tried makes no data where there is none.
            let configuration = try AccountServerConfiguration.load(data: data.folder, isServing: false)
            let isNew = !configuration.database.isRemote && !data.exists
            let stores = dryRun && isNew ? try Stores(scratch) : try await data.stores(configuration)
            let accountImport = AccountImport(
                into: stores.accounts,
                language: Language(locale),
                isDryRun: dryRun,
                audit: stores.audit,
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
                "\(progress.added) \(dryRun ? "would be added" : "added"), \(progress.present) there before, \(progress.refused) refused"
            )
            if progress.refused > 0 { throw ExitCode.failure }
        }
    }
}
