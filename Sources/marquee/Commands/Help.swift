/// The help, made from the commands' own descriptions; examples first.
enum Help {
    /// `marquee --help`.
    static func overview(_ specifications: [CommandSpecification]) -> String {
        """
        marquee 'COMMAND' [OPTION...]: films and their posters, fetched on demand, kept in a cache

        Examples
          marquee                      the films, and whether each poster is cached
          marquee prewarm              fetch every poster ahead of time
          marquee show metropolis      all about one film; fetches its poster on demand
          marquee fetch URL -o DIR     fetch any image into a folder

        Commands
        \(lines(specifications.map { ($0.name + " " + $0.operands, $0.summary) }))

        Options of every command
        \(lines(CommandSpecification.global.map(line)))

        marquee COMMAND --help tells more of one command.
        Environment: MARQUEE_CATALOGUE, MARQUEE_CACHE_DIR, MARQUEE_CREDENTIALS, XDG_CACHE_HOME,
        MARQUEE_LIBCURL.
        Exit status: 0 all done, 1 some failed, 2 usage or nothing done, 130 interrupted.
        """.replacing("'COMMAND'", with: "COMMAND")
    }

    /// `marquee COMMAND --help`.
    static func text(for command: CommandSpecification) -> String {
        var parts = ["marquee \(command.name) \(command.operands): \(command.summary)"]
        if !command.examples.isEmpty {
            parts.append("Examples\n" + lines(command.examples.map { ($0.command, $0.meaning) }))
        }
        if !command.options.isEmpty { parts.append("Options\n" + lines(command.options.map(line))) }
        parts.append("Options of every command\n" + lines(CommandSpecification.global.map(line)))
        return parts.joined(separator: "\n\n")
    }

    private static func line(_ option: Option) -> (String, String) {
        let letter = option.letter.map { "-\($0), " } ?? ""
        return (letter + "--" + option.name + (option.value.map { " " + $0 } ?? ""), option.help)
    }

    private static func lines(_ pairs: [(String, String)]) -> String {
        let width = min(34, (pairs.map(\.0.count).max() ?? 0) + 2)
        return pairs.map { left, right in
            left.count < width
                ? "  " + left + String(repeating: " ", count: width - left.count) + right
                : "  " + left + "\n  " + String(repeating: " ", count: width) + right
        }.joined(separator: "\n")
    }
}
