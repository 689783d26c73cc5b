import FilmSources
import FoundationEssentials
import SystemSupport
import TerminalGraphics

/// The program `marquee`: reads the command line, runs one command, and ends with its exit status.
@main
struct Marquee {
    static let version = "0.1.0"
    /// The date of this version.
    static let date = "November 23, 2026"

    static func main() {
        _ = StandardStreams.isOutputClosed
        let interruption = Interruption()
        // Detached, because `main` belongs to the main actor, whose thread will wait for signals.
        let work = Task.detached {
            let status = await run(CommandLineWords.all, interruption)
            // Swallows late answers of the terminal, so that they do not reach the shell.
            await TerminalInquiry.end()
            await BlockingThreads.runOnOwnThread { FilmLibrary.closeAll() }
            return status
        }
        Task.detached { interruption.exit(after: await work.value) }
        interruption.watch { work.cancel() }
    }

    static func run(_ words: [String], _ interruption: Interruption) async -> ExitStatus {
        var output = Output()
        defer { output.flush() }
        do {
            if words == JobProcessCommand.words { return await JobProcessCommand.run(interruption) }
            let environment = ProcessInfo.processInfo.environment
            let arguments = try Arguments(
                words, environment: environment, file: ConfigurationFile.standard)
            output = Output(isQuiet: arguments.has("quiet"), isVerbose: arguments.has("verbose"))
            if let text = information(arguments) {
                output.paged(isWanted: !arguments.has("no-pager"), interruption) { output.text(text) }
                return .done
            }
            do {
                return try await run(arguments, environment, output, interruption)
            } catch let error as UsageError {
                throw arguments.naming(error)
            }
        } catch {
            let error = await advised(error, words, interruption)
            if !Task.isCancelled { output.failure(error) }
            return .nothingDone
        }
    }

    private static func run(
        _ arguments: Arguments, _ environment: [String: String], _ output: Output,
        _ interruption: Interruption
    ) async throws -> ExitStatus {
        let (arguments, settings) = try settings(arguments, environment)
        let session = Session(
            arguments: arguments, settings: settings, output: output, interruption: interruption)
        if !arguments.isCommandNamed, !arguments.hasOwnOption, !settings.wantsJSON,
            Terminal.isInteractive
        {
            return try await BrowseCommand.run(session)
        }
        let command = commands.first { $0.specification.name == arguments.command.name }
        return try await command?.run(session) ?? .nothingDone
    }

    /// The same error. If a word in a command's place is a film of this machine's catalogue, it names the command that
    /// shows the film.
    private static func advised(
        _ error: any Error, _ words: [String], _ interruption: Interruption
    ) async -> any Error {
        let environment = ProcessInfo.processInfo.environment
        guard let word = (error as? UsageError)?.strangeCommand else { return error }
        let usual = error
        do {
            let arguments = try Arguments(
                [ShowCommand.specification.name] + words, environment: environment,
                file: ConfigurationFile.standard)
            let session = Session(
                arguments: arguments, settings: try Settings(arguments, environment: environment),
                output: Output(isQuiet: true), interruption: interruption)
            // A mistyped word must not wait for a server.
            if session.provider.abilities.isRemote { return usual }
            _ = try await session.find(word)
        } catch {
            return usual
        }
        let film = CommandLineWords.quoted(word)
        return UsageError("there is no command \"\(word)\"; to see the film, write marquee show \(film)")
    }

    /// The settings. A command that works without the configuration file does so if a value in it is wrong.
    private static func settings(
        _ arguments: Arguments, _ environment: [String: String]
    ) throws(UsageError) -> (Arguments, Settings) {
        do throws(UsageError) {
            return (arguments, try Settings(arguments, environment: environment))
        } catch {
            guard let others = arguments.withoutFile(error) else { throw error }
            return (others, try Settings(others, environment: environment))
        }
    }

    /// The output of `--help` or `--version`; nil if neither was given.
    private static func information(_ arguments: Arguments) -> String? {
        if arguments.has("version") { return "marquee \(version)" }
        guard arguments.has("help") else { return nil }
        return arguments.isCommandNamed ? Help.text(for: arguments.command) : Help.overview
    }
}
