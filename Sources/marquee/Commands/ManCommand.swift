import SystemSupport
import TerminalGraphics

/// `marquee man`: the manual page.
enum ManCommand: Command {
    static let specification = CommandSpecification(
        name: "man", summary: "print the manual page, for man and mandoc",
        examples: [
            ("marquee man | man -l -", "read the page"),
            ("marquee man > ~/.local/share/man/man1/marquee.1", "install the page"),
        ], worksWithoutFile: true)

    static func run(_ session: Session) async throws -> ExitStatus {
        Output.write(ManualPage.text, to: STDOUT_FILENO)
        return .done
    }
}

/// The manual page in mdoc(7), made from the same specifications as the help.
enum ManualPage {
    static var text: String {
        let lines =
            [
                ".Dd \(Marquee.date)", ".Dt MARQUEE 1", ".Os", ".Sh NAME", ".Nm marquee",
                ".Nd films and their posters in a terminal, and a picture service",
                ".Sh SYNOPSIS", ".Nm", ".Op Ar CATALOGUE", ".Nm", ".Ar COMMAND", ".Op Ar OPTION ...",
                ".Sh DESCRIPTION",
            ]
            + paragraph(
                "marquee opens a browser of films and their posters. In a pipe it lists the films. Each command has its "
                    + "own options; OPTIONS has those of every command.")
            + [".Sh COMMANDS"] + CommandSpecification.all.flatMap(section)
            + [".Sh OPTIONS"] + list(CommandSpecification.global.map(Help.line))
            + [".Sh ENVIRONMENT"] + list(Help.environment.map { ($0.name, $0.meaning) })
            + [".Sh FILES"]
            + list([
                ("$XDG_CACHE_HOME/marquee", "the cache; ~/.cache/marquee without the variable"),
                (
                    "$XDG_CONFIG_HOME/marquee/config",
                    "options for every run, one on each line: timeout 30; ~/.config/marquee/config without the variable"
                ),
                (
                    "$XDG_STATE_HOME/marquee/tokens",
                    "tokens of running services, readable for their user only"
                ),
                (
                    "$XDG_DATA_HOME/marquee/marks.db",
                    "your marks of films; ~/.local/share/marquee/marks.db without the variable"
                ),
                ("$XDG_STATE_HOME/marquee/jobs", "jobs; ~/.local/state/marquee/jobs without the variable"),
            ])
            + [".Sh EXIT STATUS"] + list(Help.exitStatuses.map { (String($0.status), $0.meaning) })
            + [".Sh BUGS"] + paragraph("Questions and faults: " + Help.address)
        return lines.joined(separator: "\n") + "\n"
    }

    private static func section(_ command: CommandSpecification) -> [String] {
        [".Ss " + argument([command.name, command.operands].filter { !$0.isEmpty }.joined(separator: " "))]
            + paragraph(command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ".")
            + list(command.options.map(Help.line)) + command.notes.flatMap { [".Pp"] + paragraph($0) }
            + (command.examples.isEmpty ? [] : [".Pp", "Examples:"])
            + list(command.examples.map { ($0.command, $0.meaning) })
    }

    /// A list of names, each with its meaning below.
    private static func list(_ pairs: [(String, String)]) -> [String] {
        pairs.isEmpty
            ? []
            : [".Bl -tag -width Ds"] + pairs.flatMap { [".It " + argument($0)] + paragraph($1) } + [".El"]
    }

    /// Lines of text. Each sentence begins a line, and no text is read as a macro.
    private static func paragraph(_ text: String) -> [String] {
        let sentences = escaped(text).replacing(". ", with: ".\n")
        return TerminalText.wrapped(sentences, toWidth: 78).filter { !$0.isEmpty }
            .map { ($0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&" : "") + $0 }
    }

    /// One argument of a macro: quoted, never read as a macro's name or as the end of a sentence.
    private static func argument(_ text: String) -> String {
        "\"\\&" + escaped(text).replacing("\"", with: "\"\"") + "\\&\""
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("`", with: "\\(ga")
            .replacing("~", with: "\\(ti").replacing("^", with: "\\(ha")
    }
}
