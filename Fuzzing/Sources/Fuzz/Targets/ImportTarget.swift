import AccountContract
import AccountCore
import AccountImport
import ErrorContract
import Foundation
import PasswordHashes

/// Reads a file with the accounts of another system: CSV, JSON lines, a dump of Django or its SQLite database.
struct ImportTarget: FuzzTarget {
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)
    private let file: URL

    init(folder: URL) throws {
        file = folder.appending(path: "import-\(UUID().uuidString)")
    }

    func check(_ input: [UInt8]) throws {
        let accounts = try accounts(in: Data(input))
        guard !accounts.isEmpty else { return }
        // The same accounts, written as JSON lines and as CSV.
        let lines = try accounts.map { String(decoding: try JSONEncoder().encode(Line($0)), as: UTF8.self) }
        try compare(try self.accounts(in: Data(lines.joined(separator: "\n").utf8)), accounts, "JSON lines")
        let rows = accounts.map { Line($0).row }
        let head = "email,first_name,password_hash,state,locale\r\n"
        try compare(try self.accounts(in: Data((head + rows.joined(separator: "\r\n")).utf8)), accounts, "CSV")
    }

    /// Returns the accounts of a file. A refused record has a reason that contains no address.
    private func accounts(in data: Data) throws -> [Account] {
        try data.write(to: file)
        let readings: [ImportFile.Reading]
        do {
            readings = try ImportFile.read(file)
        } catch is ImportFile.Unreadable {
            return []
        }
        try require(readings.count <= data.count, "\(readings.count) records in \(data.count) bytes")
        return try readings.compactMap { reading in
            guard case .success(let record) = reading else { return nil }
            try require(!record.place.isEmpty, "a record without a place")
            do {
                return try Account(record, language: .english, now: Self.now)
            } catch let refusal as ImportRefusal {
                let quotes = record.email.count > 8 && refusal.description.contains(record.email)
                try require(!quotes, "a refusal quotes the address")
                return nil
            }
        }
    }

    private func compare(_ read: [Account], _ written: [Account], _ format: String) throws {
        try require(read.count == written.count, "\(written.count) accounts are \(read.count) in \(format)")
        for (first, second) in zip(read, written) {
            let isSame =
                first.email.text == second.email.text && first.firstName == second.firstName
                && first.passwordHash == second.passwordHash && first.state == second.state && first.language == second.language
            try require(isSame, "an account is another in \(format)")
        }
    }
}

/// An account as a line of a file.
private struct Line: Encodable {
    var email: String
    var firstName: String
    var passwordHash: String
    var state: String
    var locale: String

    enum CodingKeys: String, CodingKey {
        case email, state, locale
        case firstName = "first_name"
        case passwordHash = "password_hash"
    }

    init(_ account: Account) {
        email = account.email.text
        firstName = account.firstName.rawValue
        passwordHash = account.passwordHash
        state = account.state.rawValue
        locale = account.language.rawValue
    }

    var row: String {
        [email, firstName, passwordHash, state, locale].map { "\"" + $0.replacing("\"", with: "\"\"") + "\"" }
            .joined(separator: ",")
    }
}
