import TestSupport
import Testing

/// What tests of the browser do in a terminal.
extension PseudoTerminal {
    /// Types keys that end the program, and checks that it has ended well.
    func quit(_ keys: String, sourceLocation: SourceLocation = #_sourceLocation) {
        type(keys)
        let end = waitForEnd()
        #expect(end == .exited(0), "\(screen.rows)", sourceLocation: sourceLocation)
    }
}
