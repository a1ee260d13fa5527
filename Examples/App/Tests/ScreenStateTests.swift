import Foundation
import Holdfast
import Testing

@MainActor
@Suite("States of the screens", .timeLimit(.minutes(1)))
struct ScreenStateTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    private static let file = folder.appending(path: "Snapshots.txt")

    /// The recorded snapshots by name. `HOLDFAST_RECORD=1 swift test --traits Server --filter ScreenStateTests` writes the file.
    private static let recorded: [String: String] = {
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        let sections = text.components(separatedBy: "\n== ").dropFirst().map { section in
            let lines = section.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(lines[0]), lines.dropFirst().joined().trimmingCharacters(in: .newlines))
        }
        return Dictionary(sections) { first, _ in first }
    }()

    /// Returns the text of a state. The action that is in flight runs meanwhile, as in a view.
    private static func snapshot(of state: ScreenState) async -> String {
        let screen = await state.show()
        guard screen.model.work.isBusy else { return ScreenSnapshot.text(of: screen) }
        let work = screen.model.work
        let before = screen.model.announcement
        let task = Task { await work.run() }
        while screen.model.announcement == before { await Task.yield() }
        defer { task.cancel() }
        return ScreenSnapshot.text(of: screen)
    }

    @Test("Every state has the texts of its snapshot", arguments: ScreenState.all.map(\.name))
    func snapshot(name: String) async throws {
        let state = try #require(ScreenState.all.first { $0.name == name })
        let text = await Self.snapshot(of: state)
        #expect(text == Self.recorded[name], "\(name)")
    }

    @Test("Each snapshot belongs to an existing state, and names are unique")
    func complete() async throws {
        let names = ScreenState.all.map(\.name)
        #expect(Set(names).count == names.count)
        if ProcessInfo.processInfo.environment["HOLDFAST_RECORD"] == "1" {
            var text = "The states of the screens as text, written by ScreenStateTests.\n"
            for state in ScreenState.all { text += "\n== \(state.name)\n\(await Self.snapshot(of: state))\n" }
            try text.write(to: Self.file, atomically: true, encoding: .utf8)
        } else {
            #expect(Set(Self.recorded.keys) == Set(names))
        }
    }

    @Test("Every state has a preview")
    func previews() throws {
        let file = Self.folder.appending(path: "../Sources/Previews/Previews.swift")
        let source = try String(contentsOf: file, encoding: .utf8)
        let shown = source.matches(of: /#Preview\("([^"]+)"\) \{ ScreenStateView\("([^"]+)"\) \}/)
        #expect(shown.map { String($0.output.1) } == ScreenState.all.map(\.name))
        #expect(shown.allSatisfy { $0.output.1 == $0.output.2 })
    }
}
