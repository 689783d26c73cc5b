import FoundationEssentials
import Glibc
import SystemSupport

/// The user's program for text that is longer than the terminal: `$PAGER`, else `less` if there is one.
enum Pager {
    /// Shows text, and waits until the person leaves the pager. Meanwhile Ctrl-C belongs to it.
    /// - Returns: false if there is no pager; then nothing was shown.
    static func show(_ text: String, _ interruption: Interruption) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        let command = environment["PAGER"] ?? "less"
        let blank = command.allSatisfy { $0.isWhitespace }
        guard !blank, command != "cat", environment["PAGER"] != nil || isInstalled(command, environment)
        else { return false }
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { return false }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        interruption.share()
        defer { interruption.unshare() }
        // As git does: less ends if all fits, shows colours, and leaves the text on the screen.
        let settings = ["LESS": "FRX", "LESSCHARSET": "utf-8"].merging(environment) { _, own in own }
        let process: TerminalProgram
        do throws(Failure) {
            // In a shell: the command may have quotes and options.
            process = try TerminalProgram(
                ["/bin/sh", "-c", command], input: ends[0], variables: settings.map { "\($0)=\($1)" })
        } catch {
            ends.forEach { close($0) }
            return false
        }
        close(ends[0])
        // Losing the error is right: the pipe is closed when the person leaves the pager early.
        try? FileCalls().write(Array(text.utf8), toStream: ends[1])
        close(ends[1])
        // The shell's status where it finds no such program.
        return process.wait() != .exited(127)
    }

    /// Whether a program is in PATH.
    private static func isInstalled(_ program: String, _ environment: [String: String]) -> Bool {
        (environment["PATH"] ?? "").split(separator: ":").contains {
            unsafe access("\($0)/\(program)", X_OK) == 0
        }
    }
}
