import ErrorContract
import Foundation
import HTTPTypes
import StrictJSON
import Testing

/// One browser window.
struct Browser: Sendable {
    let driver: WebDriver
    let path: String

    /// The longest wait for an element or a text, which only ends a test that would never end. `RawHTTP` waits a little longer.
    private static let patience = Duration.seconds(100)
    /// The pause between two checks, which leaves the processor to the browser.
    private static let pause = Duration.milliseconds(20)

    /// The key under which WebDriver returns the ids of elements.
    private static let elementKey = "element-6066-11e4-a52e-4f735466cecf"

    /// Sets the size of the window and the color scheme for the pages that are opened next.
    func prepare(width: Int, isDark: Bool, runsScripts: Bool = true) async throws {
        let wait = JSONValue.integer(Self.patience.components.seconds * 1_000)
        _ = try await driver.send("POST", "\(path)/timeouts", ["implicit": wait, "pageLoad": wait])
        try await devTools(
            "Emulation.setDeviceMetricsOverride",
            ["width": .integer(Int64(width)), "height": 844, "deviceScaleFactor": 1, "mobile": .bool(width < 500)]
        )
        let scheme: JSONValue = ["name": "prefers-color-scheme", "value": isDark ? "dark" : "light"]
        try await devTools("Emulation.setEmulatedMedia", ["features": [scheme]])
        if !runsScripts { try await devTools("Emulation.setScriptExecutionDisabled", ["value": true]) }
    }

    func open(_ url: String) async throws {
        _ = try await driver.send("POST", "\(path)/url", ["url": .string(url)])
    }

    func reload() async throws {
        _ = try await driver.send("POST", "\(path)/refresh", [:])
    }

    /// The URL in the address bar.
    var address: String {
        get async throws { try await driver.send("GET", "\(path)/url", nil).stringValue ?? "" }
    }

    /// Returns the first element that matches a CSS selector, and waits for it a while.
    func element(_ selector: String) async throws -> String {
        let value = try await driver.send("POST", "\(path)/element", ["using": "css selector", "value": .string(selector)])
        return try #require(value.objectValue?[Self.elementKey]?.stringValue)
    }

    /// Returns the text of an element as users see it.
    func text(_ selector: String) async throws -> String {
        try await driver.send("GET", "\(path)/element/\(try await element(selector))/text", nil).stringValue ?? ""
    }

    /// Returns the text of an element once it is the expected one, or the text after the longest wait. A page may unload while it is being
    /// read.
    func text(_ selector: String, awaiting expected: String) async throws -> String {
        let clock = ContinuousClock()
        let deadline = clock.now.advanced(by: Self.patience)
        while clock.now < deadline {
            if let text = try? await text(selector), text == expected { return text }
            try await clock.sleep(for: Self.pause)
        }
        return try await text(selector)
    }

    func attribute(_ name: String, of selector: String) async throws -> String? {
        try await driver.send("GET", "\(path)/element/\(try await element(selector))/attribute/\(name)", nil).stringValue
    }

    func isShown(_ selector: String) async throws -> Bool {
        try await driver.send("GET", "\(path)/element/\(try await element(selector))/displayed", nil) == true
    }

    /// Expects an element to be shown or hidden, at once or soon.
    func isShown(_ selector: String, soon expected: Bool, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let clock = ContinuousClock()
        let deadline = clock.now.advanced(by: Self.patience)
        while clock.now < deadline, try await isShown(selector) != expected { try await clock.sleep(for: Self.pause) }
        #expect(try await isShown(selector) == expected, sourceLocation: sourceLocation)
    }

    func type(_ text: String, into selector: String) async throws {
        let element = try await element(selector)
        _ = try await driver.send("POST", "\(path)/element/\(element)/clear", [:])
        _ = try await driver.send("POST", "\(path)/element/\(element)/value", ["text": .string(text)])
    }

    /// Types into the focused element.
    func press(_ keys: String) async throws {
        let steps = keys.flatMap { key -> [JSONValue] in
            [["type": "keyDown", "value": .string(String(key))], ["type": "keyUp", "value": .string(String(key))]]
        }
        _ = try await driver.send(
            "POST",
            "\(path)/actions",
            ["actions": [["type": "key", "id": "keys", "actions": .array(steps)]]]
        )
    }

    func click(_ selector: String) async throws {
        _ = try await driver.send("POST", "\(path)/element/\(try await element(selector))/click", [:])
    }

    /// Returns the result of a script.
    func evaluate(_ script: String) async throws -> JSONValue {
        try await driver.send("POST", "\(path)/execute/sync", ["script": .string(script), "args": []])
    }

    /// Returns the violations of the pages' content security policy since the last call.
    func refusals() async throws -> [String] {
        let entries = try await driver.send("POST", "\(path)/se/log", ["type": "browser"]).arrayValue ?? []
        return entries.compactMap { $0.objectValue?["message"]?.stringValue }.filter { $0.contains("Content Security Policy") }
    }

    /// Returns the page as a PNG.
    /// - Parameter isWhole: Whether to include the part below the window. Chromium then paints a right-to-left page at a wrong
    /// position.
    func screenshot(isWhole: Bool = true) async throws -> Data {
        let value = try await devTools("Page.captureScreenshot", ["format": "png", "captureBeyondViewport": .bool(isWhole)])
        return try #require(value.objectValue?["data"]?.stringValue.flatMap { Data(base64Encoded: $0) })
    }

    @discardableResult
    func devTools(_ command: String, _ parameters: JSONValue) async throws -> JSONValue {
        try await driver.send("POST", "\(path)/goog/cdp/execute", ["cmd": .string(command), "params": parameters])
    }

    /// Expects an element to show a text, at once or soon.
    func shows(_ expected: String, in selector: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        #expect(try await text(selector, awaiting: expected) == expected, sourceLocation: sourceLocation)
    }
}
