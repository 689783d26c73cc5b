import BackgroundTransfers
import LazyImages
import SystemSupport

/// `marquee status [--watch]`: the reach of this machine's network.
enum StatusCommand: Command {
    static let specification = CommandSpecification(
        name: "status",
        summary: "show the network: internet, local or none, and its kind",
        examples: [
            ("marquee status", "internet over wifi (wlan0)"),
            ("marquee status --watch", "a line for each change, until Ctrl-C"),
        ],
        options: [Option(name: "watch", help: "keep running, and print a line for each change")])

    private struct Record: Encodable {
        let reach: String
        let link: String?
        let interface: String?

        init(_ path: NetworkPath) {
            (reach, link, interface) = (path.reach.rawValue, path.link?.rawValue, path.interface)
        }
    }

    static func run(_ session: Session) async throws -> ExitStatus {
        guard session.arguments.has("watch") else {
            show(PathMonitor.currentPath(), session)
            return .done
        }
        for await path in PathMonitor() {
            show(path, session)
            session.output.flush()
        }
        return .done
    }

    private static func show(_ path: NetworkPath, _ session: Session) {
        if session.settings.wantsJSON {
            session.output.json(Record(path))
        } else {
            session.output.line(path.description)
        }
    }
}
