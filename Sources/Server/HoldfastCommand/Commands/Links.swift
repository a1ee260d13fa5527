import AccountServer
import AppLinks
import ArgumentParser
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastURLSession
import ResilientHTTP
import StrictJSON

/// `holdfast links`: checks the files that associate links with apps.
struct Links: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the files that associate links with apps.",
        subcommands: [Verify.self]
    )

    /// `holdfast links verify`
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check an apple-app-site-association file and the links that it matches.",
            discussion: """
                Matches links by Apple's rules: the first matching component decides. The keys exclude, #, caseSensitive, percentEncoded
                and defaults are supported. Also reports problems that make Apple's servers refuse the file: redirects, size, mixed
                formats, ports, content type.

                  holdfast links verify https://example.com --link 'https://example.com/reset-password?token=abc'

                Exit codes: 0 no errors, 1 something is wrong or a link opens no app, 64 invalid usage.
                """
        )

        @Argument(help: "The path of a file on this machine, the address of a domain, or the address of the file.")
        var source: String

        @Option(help: "A link to check; may be repeated.")
        var link: [String] = []

        @Flag(help: "Print JSON.")
        var json = false

        /// Prints the report about a file.
        /// - Throws: `ExitCode` 1 if the file has errors, or if a link opens no app.
        func run() async throws {
            let report = try await report()
            Terminal.say(json ? String(decoding: report.json.encoded(), as: UTF8.self) : report.text)
            guard report.isGood else { throw ExitCode.failure }
        }

        /// Returns the report about a local file, or about a file that the command downloads.
        private func report() async throws -> LinksReport {
            guard source.hasPrefix("https://") || source.hasPrefix("http://") else {
                guard let data = FileManager.default.contents(atPath: source) else {
                    throw ValidationError("“\(source)” can't be read; specify a file, or an address with https://")
                }
                return LinksReport(file: source, bytes: [UInt8](data), links: link)
            }
            return LinksReport(try await retrieve(), links: link)
        }

        /// Downloads the file without following redirects, because Apple's servers don't follow them either. At most 1 MiB is read.
        private func retrieve() async throws -> Retrieval {
            guard let url = URL(string: source), let authority = url.authority, url.host?.isEmpty == false else {
                throw ValidationError("“\(source)” is not an address")
            }
            let path = url.path(percentEncoded: true)
            let request = HTTPRequest(
                method: .get,
                scheme: url.scheme,
                authority: authority,
                path: path.isEmpty || path == "/" ? AssociationFile.path : path
            )
            do {
                let transport = URLSessionTransport(followsRedirects: false)
                let (response, body) = try await transport.send(request, body: nil, timeout: .seconds(20))
                let (bytes, isTruncated) = try await body.collect(upTo: 1_024 * 1_024)
                return Retrieval(
                    url: "\(url.scheme ?? "https")://\(authority)\(request.path ?? "")",
                    status: response.status.code,
                    contentType: response.headerFields[.contentType],
                    location: response.headerFields[.location],
                    bytes: bytes,
                    isTruncated: isTruncated
                )
            } catch {
                throw Terminal.failure("\(source) could not be fetched: \(error)")
            }
        }
    }
}
