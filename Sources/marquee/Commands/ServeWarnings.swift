import CatalogueService
import FilmSources
import Films
import FoundationEssentials
import HTTPServer

/// What an operator has set and nothing reads: said when the service starts, and by `serve --check`.
struct ServeWarnings {
    let arguments: Arguments
    let content: CatalogueService.Content
    let films: FilmServiceConfiguration
    let listen: ListenAddress

    /// One line for each option without effect, and for each variable of another name.
    func lines(_ environment: [String: String]) -> [String] {
        let useless = conditions.filter { !$0.holds && arguments.has($0.option) }.map { condition in
            "\(arguments.origins[condition.option] ?? "--" + condition.option) has no effect without \(condition.need)"
        }
        return useless + Self.unknown(environment)
    }

    /// What options need.
    private var conditions: [(option: String, holds: Bool, need: String)] {
        let isLibrary = if case .library = content { true } else { false }
        let isFolder =
            switch content {
            case .folder, .catalogue: true
            case .library, .films: false
            }
        let isOwnSocket = if case .passed = listen { false } else { true }
        return [
            ("token-file", films.isWritable || films.isPrivate, "--writable or --private"),
            ("trust-local", films.isWritable || films.isPrivate, "--writable or --private"),
            ("keep-metadata", films.isWritable, "--writable"), ("create", isLibrary, "a library"),
            ("follow-links", isFolder, "a folder"),
            ("port", isOwnSocket, "a socket of its own: the service manager has passed one"),
            ("address", isOwnSocket, "a socket of its own: the service manager has passed one"),
        ]
    }

    /// Variables that look like Marquee's. Kubernetes sets some for a service of this name.
    private static func unknown(_ environment: [String: String]) -> [String] {
        let options = CommandSpecification.global + CommandSpecification.all.flatMap(\.options)
        let known = Set(options.map { EnvironmentOptions.variable($0.name) } + Help.environment.map(\.name))
        return environment.keys.sorted().filter { name in
            name.hasPrefix("MARQUEE_") && !known.contains(name)
                && !name.hasPrefix("MARQUEE_SERVICE_") && !name.hasPrefix("MARQUEE_PORT_")
        }.map { name in
            let nearest = Suggestions.nearest(to: name, among: known.sorted(), count: 1).first
            return "\(name) is no variable of marquee" + (nearest.map { "; did you mean \($0)?" } ?? "")
        }
    }
}
