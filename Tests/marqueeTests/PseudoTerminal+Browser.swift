import TestSupport
import Testing

/// What tests of the browser do in a terminal.
extension PseudoTerminal {
    /// The program in a terminal with 24-bit colours, once its screen has this text.
    static func browser(
        _ words: [String], in folder: TemporaryFolder, environment: [String: String] = [:], columns: Int = 80,
        rows: Int = 24, showing text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> PseudoTerminal {
        let own = ["COLORTERM": "truecolor", "XDG_CACHE_HOME": folder.path]
        let terminal = try PseudoTerminal(
            BuiltProgram.path("marquee"), words, environment: own.merging(environment) { $1 },
            columns: columns, rows: rows)
        try terminal.type("", sourceLocation: sourceLocation) { $0.row(containing: text) != nil }
        return terminal
    }

    /// Types keys, and waits until the screen satisfies the condition.
    func type(
        _ keys: String, sourceLocation: SourceLocation = #_sourceLocation,
        until isReached: (VirtualScreen) -> Bool
    ) throws {
        type(keys)
        let isShown = waits(until: isReached)
        try #require(isShown, "\(screen.rows)", sourceLocation: sourceLocation)
    }

    /// Types keys that end the program, and checks that it has ended well.
    func quit(_ keys: String, sourceLocation: SourceLocation = #_sourceLocation) {
        type(keys)
        let end = waitForEnd()
        #expect(end == .exited(0), "\(screen.rows)", sourceLocation: sourceLocation)
    }
}
