import Glibc

/// `marquee man`: the manual page.
enum ManCommand: Command {
    static let specification = CommandSpecification(
        name: "man", summary: "print the manual page, for man and mandoc",
        examples: [
            ("marquee man | man -l -", "read the page"),
            ("marquee man > ~/.local/share/man/man1/marquee.1", "install the page"),
        ], worksWithoutFile: true)

    static func run(_ session: Session) async throws -> ExitStatus {
        Output.write(ManualPage.text(commands.map { $0.specification }), to: STDOUT_FILENO)
        return .done
    }
}
