import FoundationEssentials
import Glibc
import LazyImages
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import marquee

@Suite("A player", .bounded)
struct PlayerTests {
    @Test(
        "a command is split at spaces, quotes join words, and there is no other shell syntax",
        arguments: [
            ("mpv", ["mpv"]), ("  mpv  --fs\t-q ", ["mpv", "--fs", "-q"]),
            (#"mpv --title="At home" 'a b'c"#, ["mpv", "--title=At home", "a bc"]),
            (#"/opt/my\ player "" '\'"#, ["/opt/my player", "", "\\"]),
            ("mpv $HOME `id` ; rm * | x > y", ["mpv", "$HOME", "`id`", ";", "rm", "*", "|", "x", ">", "y"]),
        ])
    func words(command: String, words: [String]) throws {
        #expect(try Player(command, from: "--player").words == words)
    }

    @Test(
        "a malformed command is refused with the name of its source",
        arguments: [
            ("", "--player needs a program"), ("  ", "--player needs a program"),
            ("''", "--player needs a program"),
            ("mpv 'a", "the quote ' is not closed"), ("mpv a\\", "nothing follows the last backslash"),
        ])
    func refused(command: String, reason: String) {
        let error = #expect(throws: UsageError.self) { try Player(command, from: "--player") }
        #expect(error?.description.contains(reason) == true && error?.description.contains("\n") == false)
    }

    private static let lastNumber = "/proc/sys/kernel/ns_last_pid"

    /// Whether this process may choose the number of the next one.
    private static let choosesNumbers: Bool = {
        // Ignored: then it may not.
        guard let number = try? String(contentsOfFile: lastNumber, encoding: .utf8) else { return false }
        return (try? Data(number.utf8).write(to: URL(filePath: lastNumber))) != nil
    }()

    @Test(
        "a player that has ended gets no signal, whatever process has its number now",
        .enabled(if: choosesNumbers, "only root may choose the numbers of processes (ns_last_pid)"))
    func reusedNumber() throws {
        let player = try TerminalProgram(["true"])
        #expect(player.wait() == .exited(0))
        let ends = try SessionProcess.socketPair()
        // Without it another process has the number, which no test can help.
        guard let other = try Self.process(numbered: player.identifier, input: ends.other) else { return }
        player.stop()
        // A signal would be first.
        close(ends.own)
        #expect(other.wait() == .exited(0))
    }

    /// A process that ends with its input and has this number; nil if others always take it.
    private static func process(numbered number: pid_t, input: Int32) throws -> TerminalProgram? {
        for _ in 0..<100 {
            try Data("\(number - 1)".utf8).write(to: URL(filePath: lastNumber))
            let process = try TerminalProgram(["cat"], input: input)
            if process.identifier == number { return process }
            kill(process.identifier, SIGKILL)
            _ = process.wait()
        }
        return nil
    }

    private let network = BaseURL(URL(string: "https://films.example/all/films.json") ?? URL(filePath: "/"))

    @Test("a relative address is resolved like a poster's, and a file is an absolute path")
    func relative() throws {
        let folder = try TemporaryFolder()
        try folder.write("", to: "-v El Camión #1.mkv")
        let base = BaseURL(URL(filePath: folder.file("films.json")))
        let path = try MediaAddress.argument("-v El Camión %231.mkv", relativeTo: base)
        #expect(path == folder.file("-v El Camión #1.mkv") && path.hasPrefix("/"))
        #expect(try MediaAddress.argument("a.mkv", relativeTo: network) == "https://films.example/all/a.mkv")
        #expect(
            try MediaAddress.argument("http://films.example/b c.mkv", relativeTo: base)
                == "http://films.example/b%20c.mkv")
    }

    @Test(
        "a catalogue can give a player no option and no other protocol",
        arguments: [
            "--script=/tmp/evil.lua", "-h", "edl://x", "ytdl://x", "smb://h/x", "data:text/plain,x",
            "javascript:x",
            "memory://x", "file://other/etc/passwd", "\u{0}", "",
        ])
    func hostile(text: String) throws {
        let folder = try TemporaryFolder()
        for base in [network, BaseURL(URL(filePath: folder.file("films.json")))] {
            // A name that resembles an option is a file beside the catalogue.
            let argument = try? MediaAddress.argument(text, relativeTo: base)
            #expect(argument.map { $0.hasPrefix("https://films.example/all/") } ?? true, "\(argument ?? "")")
        }
    }

    @Test(
        "a catalogue from the network cannot name a file of this machine", arguments: ["file:///etc/passwd"])
    func localFile(text: String) throws {
        let error = #expect(throws: Failure.self) { try MediaAddress.argument(text, relativeTo: network) }
        #expect(error?.description.contains("cannot name a file of this machine") == true)
        #expect(
            try MediaAddress.argument(text, relativeTo: BaseURL(URL(filePath: "/films.json")))
                == "/etc/passwd")
    }

    @Test("a failure says what was wrong, and Ctrl-C is no failure")
    func endings() {
        #expect(PlayerEnding.exited(0).complaint(of: "mpv") == nil)
        #expect(PlayerEnding.killed(signal: SIGINT).complaint(of: "mpv") == nil)
        #expect(PlayerEnding.exited(2).complaint(of: "mpv") == "mpv failed: exit status 2")
        #expect(PlayerEnding.killed(signal: SIGSEGV).complaint(of: "mpv") == "mpv was ended by signal 11")
    }
}
