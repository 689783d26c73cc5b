import Glibc

/// A question before something is removed.
enum Confirmation {
    static let options = [
        Option(name: "yes", letter: "y", help: "remove without confirmation"),
        Option(name: "dry-run", help: "only say what would be removed"),
    ]

    /// Whether there is a person who can answer.
    static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Asks, and waits for a line. Only `y` and `yes` confirm.
    static func isGiven(_ question: String, _ output: Output) async throws(Failure) -> Bool {
        output.question(question + " [y/N] ")
        let answer = try await InputLines().next()?.lowercased() ?? ""
        if answer == "y" || answer == "yes" { return true }
        output.note("nothing was removed")
        return false
    }
}
