import FoundationEssentials
import LazyImages
import SystemSupport
import TerminalGraphics

/// The program that plays films: `--player`, else `MARQUEE_PLAYER`. It is started without a shell:
///
///     mpv
///     mpv --vo=tct --title="At home"
struct Player: Sendable, Equatable {
    /// The program and its arguments.
    let words: [String]

    /// The program's name in messages.
    var name: String { words.first.map { $0.split(separator: "/").last.map(String.init) ?? $0 } ?? "" }

    /// Splits a command at spaces. Quotes keep spaces, and a backslash keeps the next character.
    /// - Parameter option: the option or variable that the command came from, for errors.
    init(_ command: String, from option: String) throws(UsageError) {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in command {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if character.isWhitespace {
                if let word { words.append(word) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        if let quote { throw UsageError("\(option): the quote \(quote) is not closed in: \(command)") }
        if isEscaped { throw UsageError("\(option): nothing follows the last backslash in: \(command)") }
        if let word { words.append(word) }
        guard let program = words.first, !program.isEmpty, !command.utf8.contains(0) else {
            throw UsageError("\(option) needs a program such as mpv")
        }
        self.words = words
    }

    /// The player of the command line or the environment; nil for none.
    static func chosen(_ arguments: Arguments, _ environment: [String: String]) throws(UsageError) -> Player?
    {
        if let command = arguments.value("player") { return try Player(command, from: "--player") }
        guard let command = environment[variable], !command.isEmpty else { return usual(environment) }
        return try Player(command, from: variable)
    }

    /// The first player that is there; nil for none. Without a display only mpv shows something.
    private static func usual(_ environment: [String: String]) -> Player? {
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(environment[$0] ?? "").isEmpty }
        let folders = (environment["PATH"] ?? "").split(separator: ":")
        return (hasDisplay ? ["mpv", "vlc", opener] : ["mpv"]).first { program in
            folders.contains { unsafe access("\($0)/\(program)", X_OK) == 0 }
        }.map { Player(words: [$0]) }
    }

    /// Hands a film to another program, and does not wait for its end.
    fileprivate static let opener = "xdg-open"

    private init(words: [String]) { self.words = words }

    static let variable = "MARQUEE_PLAYER"
}

/// How a player ended.
enum PlayerEnding: Sendable, Equatable {
    case exited(Int32)
    case killed(signal: Int32)

    /// The message about a failure; nil if the film played, or the person ended it with Ctrl-C.
    func complaint(of player: String) -> String? {
        switch self {
        case .exited(0), .killed(SIGINT), .exited(128 + SIGINT): nil
        case .exited(let status): "\(player) failed: exit status \(status)"
        case .killed(let signal): "\(player) was ended by signal \(signal)"
        }
    }
}

/// A running program that has the terminal: a player or a pager. It shares the process group, so keys that stop or
/// interrupt a program reach both.
final class TerminalProgram: Sendable {
    let identifier: pid_t
    /// Whether the program's end was taken note of. Then the system may give its number to another process.
    private let hasEnded = Lock(false)

    /// Starts a program, found in PATH, with this program's standard output.
    /// - Parameters:
    ///   - input: its standard input. Default: this program's.
    ///   - variables: its environment, as `NAME=VALUE`. Default: this program's, without the user's credentials.
    /// - Throws: why it did not start.
    init(_ words: [String], input: Int32 = STDIN_FILENO, variables: [String]? = nil) throws(Failure) {
        var attributes = posix_spawnattr_t()
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawnattr_init(&attributes)
        unsafe posix_spawn_file_actions_init(&actions)
        defer {
            unsafe posix_spawnattr_destroy(&attributes)
            unsafe posix_spawn_file_actions_destroy(&actions)
        }
        if input != STDIN_FILENO { unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
        // Marquee's threads block some signals and ignore others. The program starts with the usual settings.
        var none = Interruption.set(of: [])
        var usual = Interruption.set(of: [SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ])
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let arguments: [UnsafeMutablePointer<CChar>?] = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe arguments.indices { unsafe free(arguments[index]) } }
        var process = pid_t()
        let program = words.first ?? ""
        let own: [UnsafeMutablePointer<CChar>?] =
            unsafe (variables ?? []).map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe own.indices { unsafe free(own[index]) } }
        let environment = unsafe variables == nil ? Self.usualVariables : own
        let failure = unsafe posix_spawnp(
            &process, program, &actions, &attributes, arguments, environment)
        guard failure == 0 else {
            throw Failure(
                failure == ENOENT
                    ? "\(program): there is no such program; name another with --player or \(Player.variable)"
                    : "\(program) cannot be run: \(SystemError.text(failure))")
        }
        identifier = process
    }

    /// The environment without the user's credentials, which are for servers only. Other variables keep their bytes.
    private static var usualVariables: [UnsafeMutablePointer<CChar>?] {
        let secret = "MARQUEE_CREDENTIALS="
        var kept: [UnsafeMutablePointer<CChar>?] = unsafe []
        var next = unsafe environ
        while let variable = unsafe next.pointee {
            if unsafe strncmp(variable, secret, secret.utf8.count) != 0 { unsafe kept.append(variable) }
            unsafe next += 1
        }
        return unsafe kept + [nil]
    }

    /// Asks the program to end. Does nothing once it has ended.
    func stop() { hasEnded.withLock { hasEnded in if !hasEnded { kill(identifier, SIGTERM) } } }

    /// Waits until the program ends. Blocks.
    func wait() -> PlayerEnding {
        var information = unsafe siginfo_t()
        // Until the status is taken, under the lock, no other process gets the number.
        while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) < 0 {
            if errno != EINTR { return .exited(0) }
        }
        var status: Int32 = 0
        hasEnded.withLock { hasEnded in
            hasEnded = true
            _ = unsafe waitpid(identifier, &status, 0)
        }
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
    }
}

/// A film that a player plays in the browser's terminal. Used by the browser's thread only.
final class Playing {
    private let terminal: TerminalSession
    private let player: Player?
    private let interruption: Interruption
    private let mailbox: Mailbox<Browser.Message>
    private var process: TerminalProgram?

    /// - Parameter player: nil if there is none.
    init(
        _ player: Player?, terminal: TerminalSession, interruption: Interruption,
        mailbox: Mailbox<Browser.Message>
    ) {
        (self.player, self.terminal) = (player, terminal)
        (self.interruption, self.mailbox) = (interruption, mailbox)
    }

    /// Whether the player's end is that of the film.
    var waitsForEnd: Bool { player?.words.first != Player.opener }

    /// Whether another program has the terminal now.
    var isUnderWay: Bool { process != nil }

    /// Hands the terminal to the player. `.played` is sent when it ends.
    /// - Returns: why the film does not play; nil if the player runs.
    func begin(_ media: String, relativeTo base: BaseURL) throws(TerminalError) -> String? {
        guard let player else { return "no player: use --player mpv or \(Player.variable)" }
        let address: String
        do {
            address = try MediaAddress.argument(media, relativeTo: base)
        } catch {
            return error.description
        }
        interruption.share()
        do {
            try terminal.handOver()
        } catch {
            interruption.unshare()
            return "\(player.name) cannot have the terminal: \(error)"
        }
        do {
            let text = "marquee: \(player.name) plays \(address); the films come back when it ends"
            try terminal.write(Array((TerminalText.visible(text) + "\n").utf8))
            let process = try TerminalProgram(player.words + [address])
            self.process = process
            try BlockingThreads.startThread(name: "Player") { [mailbox] in
                mailbox.send(.played(process.wait()))
            }
            return nil
        } catch {
            // Without a thread to wait for the player, this thread waits.
            if let process { return try end(process.wait()) }
            interruption.unshare()
            try terminal.reclaim()
            return (error as? Failure)?.description ?? "\(error)"
        }
    }

    /// Takes the terminal back after a player has ended.
    /// - Returns: what went wrong; nil if nothing did.
    func end(_ ending: PlayerEnding) throws(TerminalError) -> String? {
        process = nil
        interruption.unshare()
        try terminal.reclaim()
        return ending.complaint(of: player?.name ?? "")
    }

    /// Ends the player when the browser ends.
    func stop() { process?.stop() }
}

/// The argument that a player gets for a film: an absolute path, or an http or https address. It never begins with a
/// hyphen, so that it is never an option. Other protocols are refused: some of a player's protocols do more than play.
enum MediaAddress {
    /// Reads an address from a catalogue.
    /// - Parameter base: the base of a relative address.
    static func argument(_ text: String, relativeTo base: BaseURL) throws(Failure) -> String {
        let url = try Failure.advising(try base.resolve(text))
        switch url.scheme?.lowercased() {
        case "http", "https": return url.absoluteString
        case "file":
            let path = url.path(percentEncoded: false)
            guard path.hasPrefix("/"), !path.utf8.contains(0), ["", "localhost"].contains(url.host() ?? "")
            else {
                throw Failure("\(text): this is not the path of a file on this machine")
            }
            guard unsafe access(path, R_OK) == 0 else {
                throw Failure("\(text): \(SystemError.text(errno)), as \(path)")
            }
            return path
        default: throw Failure("\(text): only files, http and https are played")
        }
    }
}
