import ErrorContract
import Foundation
import StrictJSON
import TestSupport
import Testing

/// A separate chromedriver process, controlled by the WebDriver protocol (W3C WebDriver).
struct WebDriver: Sendable {
    private let url: URL

    /// The driver refused a command or could not be started.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs a driver for the duration of a closure.
    static func run<Result: Sendable>(_ body: (WebDriver) async throws -> Result) async throws -> Result {
        // Chromium leaves files in its temporary folder. The name is short, because the path of a socket has at most 107 bytes.
        let folder = FileManager.default.temporaryDirectory.appending(path: "cd-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (process, driver) = try await started(in: folder)
        do {
            let result = try await body(driver)
            process.terminate()
            _ = await process.ended()
            return result
        } catch {
            process.terminate()
            _ = await process.ended()
            throw error
        }
    }

    /// Starts a driver that stores temporary files in a folder. Drivers that start at the same time may choose the same port, and all but
    /// one of them end. Those are started again.
    private static func started(in folder: URL) async throws -> (Process, WebDriver) {
        var failure: any Error = Failure(description: "chromedriver was not tried")
        for _ in 0..<5 {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["TMPDIR=\(folder.path)", "chromedriver", "--port=0"]
            let output = Pipe.make()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.start()
            do {
                return (process, WebDriver(url: try await address(in: output)))
            } catch {
                process.terminate()
                _ = await process.ended()
                failure = error
            }
        }
        throw failure
    }

    /// Returns the driver's URL, which it prints.
    private static func address(in output: Pipe) async throws -> URL {
        for await line in output.fileHandleForReading.lines {
            if let match = line.firstMatch(of: /successfully on port (\d+)/), let url = URL(string: "http://127.0.0.1:\(match.1)")
            {
                return url
            }
        }
        throw Failure(description: "chromedriver did not start; scripts/test installs it")
    }

    private init(url: URL) {
        self.url = url
    }

    /// Opens a headless browser for the duration of a closure.
    /// - Parameters:
    ///   - language: The language that it requests from servers.
    ///   - width: The width of the window in CSS pixels. Below 500 it emulates a phone.
    func browser<Result: Sendable>(
        language: Language = .english,
        width: Int = 390,
        isDark: Bool = false,
        runsScripts: Bool = true,
        _ body: (Browser) async throws -> Result
    ) async throws -> Result {
        let arguments: JSONValue = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            .string("--window-size=\(max(width, 500)),900"),
        ]
        let preferences: JSONValue = ["intl.accept_languages": .string(language.rawValue)]
        let options: JSONValue = ["args": arguments, "prefs": preferences]
        let wanted: JSONValue = [
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": ["browser": "ALL"],
        ]
        let capabilities: JSONValue = ["capabilities": ["alwaysMatch": wanted]]
        let response = try await send("POST", "/session", capabilities)
        let id = try #require(response.objectValue?["sessionId"]?.stringValue)
        let browser = Browser(driver: self, path: "/session/\(id)")
        do {
            try await browser.prepare(width: width, isDark: isDark, runsScripts: runsScripts)
            let result = try await body(browser)
            _ = try await send("DELETE", "/session/\(id)", nil)
            return result
        } catch {
            _ = try? await send("DELETE", "/session/\(id)", nil)
            throw error
        }
    }

    /// Sends a command and returns its value. It uses a plain socket: the driver writes `Content-Length:249`, and `URLSession` on
    /// Linux refuses headers without a space.
    func send(_ method: String, _ path: String, _ body: JSONValue?) async throws -> JSONValue {
        let headers = ["Content-Type: application/json"]
        let response = try await RawHTTP.send(method, path, to: url, headers: headers, body: body?.encoded() ?? [])
        let value = try JSONParser(duplicates: .lastWins).parse(response.body).objectValue?["value"] ?? .null
        guard response.status == 200 else {
            throw Failure(description: "\(path): \(value.objectValue?["message"]?.stringValue ?? "\(response.status)")")
        }
        return value
    }
}
