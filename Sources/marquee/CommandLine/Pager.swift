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
        guard let process = start(command, input: ends[0], environment) else {
            ends.forEach { close($0) }
            return false
        }
        close(ends[0])
        // Losing the error is right: a person who leaves the pager early closes the pipe.
        try? FileCalls().write(Array(text.utf8), toStream: ends[1])
        close(ends[1])
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
        // 127: the shell did not find the program.
        return status >> 8 & 0xFF != 127
    }

    /// Whether a program is in PATH.
    private static func isInstalled(_ program: String, _ environment: [String: String]) -> Bool {
        (environment["PATH"] ?? "").split(separator: ":").contains {
            unsafe access("\($0)/\(program)", X_OK) == 0
        }
    }

    /// Starts the command in a shell, as its own words may have quotes and options.
    private static func start(_ command: String, input: Int32, _ environment: [String: String]) -> pid_t? {
        var attributes = posix_spawnattr_t()
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawnattr_init(&attributes)
        unsafe posix_spawn_file_actions_init(&actions)
        defer {
            unsafe posix_spawnattr_destroy(&attributes)
            unsafe posix_spawn_file_actions_destroy(&actions)
        }
        // The pager starts with the usual signals, and its standard input is the text.
        var (none, usual) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe sigemptyset(&usual)
        for number in [SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ] { unsafe sigaddset(&usual, number) }
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        // As git does: less ends if all fits, shows colours, and leaves the text on the screen.
        let settings = ["LESS": "FRX", "LESSCHARSET": "utf-8"].merging(environment) { _, own in own }
        let line = ["/bin/sh", "-c", command]
        let words: [UnsafeMutablePointer<CChar>?] = unsafe line.map { unsafe strdup($0) } + [nil]
        let variables: [UnsafeMutablePointer<CChar>?] =
            unsafe settings.map { unsafe strdup("\($0)=\($1)") } + [nil]
        defer {
            for index in unsafe words.indices { unsafe free(words[index]) }
            for index in unsafe variables.indices { unsafe free(variables[index]) }
        }
        var process = pid_t()
        let failure = unsafe posix_spawn(&process, "/bin/sh", &actions, &attributes, words, variables)
        return failure == 0 ? process : nil
    }
}
