import BackgroundTransfers

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
        let record = [
            "reach": path.reach.rawValue, "link": path.link?.rawValue, "interface": path.interface,
        ]
        session.print(record.compactMapValues(\.self), orLine: path.description)
    }
}
