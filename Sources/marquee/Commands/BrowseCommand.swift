import CMarqueeSystem
import FoundationEssentials
import LazyImages
import SystemSupport
import TerminalGraphics

/// `marquee browse`, and plain `marquee` on a terminal: the films with their posters, full screen.
enum BrowseCommand: Command {
    static let specification = CommandSpecification(
        name: "browse",
        summary: "the films and their posters, full screen (what plain marquee does on a terminal)",
        examples: [
            ("marquee", "the sample catalogue"),
            ("marquee --catalogue films.xml", "your own"),
            ("marquee films.json --player mpv", "Enter on a film's page plays its member media"),
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        guard Terminal.isInteractive else {
            throw Failure("browsing needs a terminal; marquee list works without one")
        }
        let player = try Player.chosen(session.arguments, ProcessInfo.processInfo.environment)
        // Large blocks (64 KiB and more), above all pictures, go back to the system when they are freed. Otherwise the
        // heaps of all threads would keep a fifth of the program's memory when the memory tier is full.
        csystem_set_mmap_threshold(64 * 1024)
        let terminal: TerminalSession
        do {
            terminal = try TerminalSession()
        } catch {
            throw Failure("the terminal cannot be used: \(error); marquee list works without one")
        }
        let session = session.besideScreen()
        let opened = session.makeLoader(keepsFiles: false)
        let images = session.imageLoader(over: opened, pressure: .system)
        let environment = Browser.Environment(
            session: session, files: opened.loader, images: images, player: player)
        let browser = try Browser(terminal: terminal, environment: environment)
        let failure: (any Error)?
        do {
            failure = try await browser.run()
        } catch let shortage as ResourceShortage {
            throw Failure(shortage, doing: "browsing")
        } catch {
            throw Failure("the terminal cannot be used: \(error); marquee list works without one")
        }
        await opened.close()
        session.output.releaseMessages()
        if let failure { throw failure }
        return .done
    }
}
