import Glibc
import SystemSupport
import TerminalGraphics

/// A film that a player plays in the browser's terminal. Used by the browser's thread only.
final class Playing {
    private let terminal: TerminalSession
    private let interruption: Interruption
    private let mailbox: Mailbox<Browser.Message>
    private var process: TerminalProgram?
    private var name = ""

    init(terminal: TerminalSession, interruption: Interruption, mailbox: Mailbox<Browser.Message>) {
        self.terminal = terminal
        self.interruption = interruption
        self.mailbox = mailbox
    }

    /// Whether another program has the terminal now.
    var isUnderWay: Bool { process != nil }

    /// Hands the terminal to a player. `.played` is sent when it ends.
    /// - Returns: why the film does not play; nil if the player runs.
    func begin(_ media: String, relativeTo base: BaseURL, with player: Player?) throws(TerminalError)
        -> String?
    {
        guard let player else { return "no player: use --player mpv or \(Player.variable)" }
        let address: String
        do {
            address = try MediaAddress.argument(media, relativeTo: base)
        } catch {
            return error.description
        }
        name = player.name
        interruption.share()
        do {
            try terminal.handOver()
        } catch {
            interruption.unshare()
            return "\(name) cannot have the terminal: \(error)"
        }
        do {
            let text = "marquee: \(name) plays \(address); the films come back when it ends"
            try terminal.write(Array((TerminalText.visible(text) + "\n").utf8))
            let process = try TerminalProgram(player.words + [address])
            self.process = process
            try BlockingThreads.startThread(name: "Player") { [mailbox] in
                mailbox.send(.played(process.wait()))
            }
            return nil
        } catch {
            if let process {
                // Without a thread to wait for the player, this thread waits.
                self.process = nil
                let ending = process.wait()
                return try end(ending)
            }
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
        return ending.complaint(of: name)
    }

    /// Ends the player when the browser ends.
    func stop() { if let process { kill(process.identifier, SIGTERM) } }
}
