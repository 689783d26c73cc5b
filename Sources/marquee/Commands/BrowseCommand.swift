import CSystem
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
        guard Terminal.canBeAsked else {
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
        let reader = CatalogueReader(session)
        let environment = Browser.Environment(
            name: session.source.name, welcome: session.welcome,
            read: { await reader.read($0, onNews: $1) }, canSearch: reader.canSearch,
            marks: { MarkKeeper(session, onNews: $0) },
            watch: { onChange in
                guard case .films(let folder) = session.source else { return nil }
                // Ignored: without a thread or a descriptor, R reads the folder again.
                return try? FolderWatch(folder.path, onChange: onChange)
            },
            progress: { session.output.progress.present(width: $0) },
            poster: { address, base, size in
                Result { () throws(ImageLoadingError) in
                    try session.posterRequest(for: address, relativeTo: base, decodedAt: size)
                }
            },
            reader: AddressReader(session: session, images: images),
            save: {
                await SavedPoster.save($0, $1, opened.loader, in: FileManager.default.currentDirectoryPath)
            },
            export: { await SavedFilms.save($0, of: $1, in: FileManager.default.currentDirectoryPath) },
            depth: session.settings.colourDepth, graphics: session.settings.graphics,
            asksForGraphics: session.settings.asksForGraphics, complete: { await session.whole($0) },
            player: player, keys: session.arguments.keys, colours: session.arguments.colours,
            attribution: session.source.attribution, interruption: session.interruption)
        let browser = try Browser(terminal: terminal, loader: images, environment: environment)
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
