import Films
import TerminalGraphics

/// The help, made from the commands' specifications. No line is wider than `width`.
enum Help {
    /// A page of the help that is not about a command.
    struct Topic: Sendable {
        /// The word after `marquee help`.
        let name: String
        let summary: String
        let text: @Sendable () -> String
    }

    /// The columns of every page.
    static let width = 80

    /// All pages that are not about a command.
    static let topics = [
        Topic(name: "options", summary: "the options that every command takes") {
            titled("Options of every command", CommandSpecification.global.map(line)) + "\n\n"
                + filled("Cookies are not stored. Only a cookie in --header 'Cookie: ...' is sent.") + "\n\n"
                + filled(
                    "The file $XDG_CONFIG_HOME/marquee/config (~/.config/marquee/config without the variable) has "
                        + "options for every run: an option's name and its value on each line. The environment comes "
                        + "before the file, and the command line before both. marquee doctor shows what is set where."
                )
        },
        Topic(name: "json", summary: "the members that --json prints") { JSONHelp.text },
    ]

    /// The variables that every command reads.
    static let environment: [(name: String, meaning: String)] = [
        ("MARQUEE_CATALOGUE", "the catalogue, if --catalogue is not given"),
        ("MARQUEE_CACHE_DIR", "the cache folder, if --cache-dir is not given"),
        (
            "MARQUEE_CREDENTIALS",
            "credentials by host: HOST USER:PASSWORD or HOST Bearer TOKEN; separated by ;"
        ),
        ("MARQUEE_PLAYER", "the player, if --player is not given"),
        ("PAGER", "the program that shows long lists and help (default: less)"),
        ("XDG_CACHE_HOME", "the folder of all programs' caches"),
        ("XDG_CONFIG_HOME", "the folder of all programs' settings: marquee/config has options"),
        ("XDG_DATA_HOME", "the folder of all programs' data, for your marks of films"),
        ("XDG_STATE_HOME", "the folder of all programs' states, for jobs"),
        ("MARQUEE_LIBCURL", "the file of libcurl, if it is not found"),
        ("MARQUEE_LIBSQLITE", "the file of SQLite, if it is not found"),
    ]

    /// Where users ask.
    static let address = "https://example.org/marquee/issues"

    static let exitStatuses: [(status: Int, meaning: String)] = [
        (0, "all done"), (1, "some failed"), (2, "usage or nothing done"), (130, "interrupted"),
    ]

    /// `marquee --help` and `marquee help`.
    static var overview: String {
        let commands = CommandSpecification.all.map {
            ([$0.name, $0.operands].filter { !$0.isEmpty }.joined(separator: " "), $0.summary)
        }
        return [
            "marquee opens a browser of films and their posters; in a pipe it lists the films",
            titled(
                "Examples",
                [
                    ("marquee", "browse the sample catalogue; q quits, ? shows the keys"),
                    ("marquee films.json", "browse the films of a file: JSON, XML or a library"),
                    ("marquee list --top 10", "the ten best"),
                    ("marquee show metropolis", "one film with its poster"),
                    ("marquee fetch URL -o DIR", "fetch any image into a folder"),
                    ("marquee prewarm", "fetch all posters ahead of time"),
                ]),
            titled("Usage", [("marquee [CATALOGUE]", ""), ("marquee COMMAND [OPTION...]", "")]),
            titled("Commands", commands),
            titled(
                "More help",
                [("marquee help COMMAND", "one command; marquee COMMAND --help does the same")]
                    + topics.map { ("marquee help \($0.name)", $0.summary) }),
            filled("Environment: " + environment.map(\.name).joined(separator: ", ") + "."),
            filled(
                "Exit status: " + exitStatuses.map { "\($0.status) \($0.meaning)" }.joined(separator: ", ")
                    + "."),
            "Questions and faults: " + address,
        ].joined(separator: "\n\n")
    }

    /// `marquee COMMAND --help` and `marquee help COMMAND`.
    static func text(for command: CommandSpecification) -> String {
        let name = ["marquee", command.name, command.operands].filter { !$0.isEmpty }.joined(separator: " ")
        var parts = [filled("\(name): \(command.summary)")]
        if !command.examples.isEmpty {
            parts.append(titled("Examples", command.examples.map { ($0.command, $0.meaning) }))
        }
        if !command.options.isEmpty { parts.append(titled("Options", command.options.map(line))) }
        parts += command.notes.map { filled($0) }
        if command.readsEnvironment,
            let option = command.options.first(where: { $0.name.contains("-") }) ?? command.options.first
        {
            parts.append(
                filled(
                    "Every option may come from the environment: --\(option.name) is "
                        + "\(EnvironmentOptions.variable(option.name)); separate several values with commas; "
                        + "a flag is 1 or 0."))
        }
        parts.append(filled("Options of every command, such as --catalogue and --json: marquee help options"))
        parts.append("Questions and faults: " + address)
        return parts.joined(separator: "\n\n")
    }

    /// `marquee help NAME` for a command or a topic.
    static func page(_ name: String) throws(UsageError) -> String {
        if let command = CommandSpecification.all.first(where: { $0.name == name }) {
            return text(for: command)
        }
        if let topic = topics.first(where: { $0.name == name }) { return topic.text() }
        let names = CommandSpecification.all.map(\.name) + topics.map(\.name)
        let nearest = Suggestions.nearest(to: name, among: names, count: 1).first
        throw UsageError(
            "there is no help on \"\(name)\""
                + (nearest.map { "; did you mean \"\($0)\"?" } ?? "; see marquee help"))
    }

    static func line(_ option: Option) -> (String, String) {
        let letter = option.letter.map { "-\($0), " } ?? ""
        return (letter + "--" + option.name + (option.value.map { " " + $0 } ?? ""), option.help)
    }

    /// A title and two columns.
    private static func titled(_ title: String, _ pairs: [(String, String)]) -> String {
        title + "\n" + lines(pairs)
    }

    private static func filled(_ text: String) -> String {
        TerminalText.wrapped(text, toWidth: width).joined(separator: "\n")
    }

    /// Two columns. A long entry in the first one gets a line of its own.
    private static func lines(_ pairs: [(String, String)]) -> String {
        let widest = 30
        let left = min(widest, (pairs.map(\.0.count).max() ?? 0) + 2)
        let indent = String(repeating: " ", count: 2 + left)
        return pairs.flatMap { name, meaning in
            let meanings = TerminalText.wrapped(meaning, toWidth: width - 2 - left).filter { !$0.isEmpty }
            guard let first = meanings.first else { return ["  " + name] }
            let rest = meanings.dropFirst().map { indent + $0 }
            guard name.count < left else { return ["  " + name, indent + first] + rest }
            return ["  " + name + String(repeating: " ", count: left - name.count) + first] + rest
        }.joined(separator: "\n")
    }
}

/// `marquee version`: what `marquee --version` prints.
enum VersionCommand: Command {
    static let specification = CommandSpecification(
        name: "version", summary: "print the version",
        examples: [("marquee version", "as marquee --version does")], worksWithoutFile: true)

    static func run(_ session: Session) async throws -> ExitStatus {
        session.print(["version": Marquee.version], orLine: "marquee \(Marquee.version)")
        return .done
    }
}

/// `marquee help`: the pages of the help.
enum HelpCommand: Command {
    static let specification = CommandSpecification(
        name: "help", operands: "[COMMAND|TOPIC]", operandCount: 0...1,
        summary: "help on a command or a topic",
        examples: [
            ("marquee help fetch", "the options of one command"),
            ("marquee help options", "the options that every command takes"),
        ], worksWithoutFile: true)

    static func run(_ session: Session) async throws -> ExitStatus {
        let page = try session.arguments.operands.first.map { try Help.page($0) } ?? Help.overview
        session.paged { session.output.text(page) }
        return .done
    }
}
