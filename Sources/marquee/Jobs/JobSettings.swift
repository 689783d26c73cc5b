import FoundationEssentials
import Glibc
import LazyImages
import SystemSupport

/// What a job's process needs to know of a command line, and what of it is secret.
///
/// The options of the command line are the job's, with absolute paths, since it works in `/`. Options that are only about
/// what is shown are left out, and secrets are told apart: they go by a pipe and are stored nowhere.
struct JobSettings: Sendable {
    /// What is secret, as it goes through the pipe.
    struct Secrets: Codable, Sendable {
        /// The values of --header.
        var fields: [String] = []
        /// Credentials by host, as `MARQUEE_CREDENTIALS` has them: those of the file last, since they win.
        var credentials: String?
        /// A proxy's URL with a password.
        var proxy: String?
        /// Variables that name a proxy with a password.
        var variables: [String: String] = [:]

        init() {}

        /// What a process was told.
        init(_ bytes: [UInt8]) throws(Failure) {
            do {
                self = try JSONDecoder().decode(Secrets.self, from: Data(bytes))
            } catch {
                throw Failure("its secrets cannot be read; start it with this version of marquee")
            }
        }

        var bytes: [UInt8] {
            // Losing the error is right: texts are always encoded.
            (try? JSONEncoder().encode(self)).map { [UInt8]($0) } ?? []
        }

        /// How messages call what there is.
        var names: [String] {
            (fields.isEmpty ? [] : ["--header"])
                + (credentials == nil ? [] : ["MARQUEE_CREDENTIALS or --credentials-file"])
                + (proxy == nil && variables.isEmpty ? [] : ["the password of a proxy"])
        }
    }

    /// The folder of the sample catalogue, empty where that is not the source, and then the words of a command line.
    let stored: [String]
    let secrets: Secrets

    /// What of a prewarm's command line a job needs.
    init(_ session: Session) throws(Failure) {
        let environment = ProcessInfo.processInfo.environment
        secrets = try Self.secrets(session.arguments, environment)
        var sample = ""
        if case .sample(let folder) = session.source { sample = Self.absolute(folder) }
        var words = [
            sample, PrewarmCommand.specification.name,
            "--cache-dir=" + Self.absolute(session.settings.cacheFolder),
        ]
        // The list is read already. Only a library has more than its list, and an address may hold a password.
        if case .library(let path) = session.source { words.append("--catalogue=" + Self.absolute(path)) }
        for option in PrewarmCommand.specification.options + CommandSpecification.global
        where !Self.left.contains(option.name) && !(option.name == "proxy" && secrets.proxy != nil) {
            for value in session.arguments.values(option.name) {
                words.append(
                    option.value == nil
                        ? "--\(option.name)" : "--\(option.name)=\(Self.absolute(value, of: option))")
            }
        }
        stored = words
    }

    /// Options that are told in another way, are secret, or are about what is shown.
    private static let left: Set<String> = [
        "cache-dir", "catalogue", "header", "credentials-file", "detach", "name", "json", "color", "graphics",
        "memory-size", "player", "quiet", "verbose", "help", "version",
    ]

    private static func secrets(_ arguments: Arguments, _ environment: [String: String]) throws(Failure)
        -> Secrets
    {
        var secrets = Secrets()
        secrets.fields = arguments.values("header")
        var credentials = environment["MARQUEE_CREDENTIALS"].map { [$0] } ?? []
        if let file = arguments.value("credentials-file") {
            do {
                credentials.append(
                    String(decoding: try FileCalls().contents(ofPath: file), as: UTF8.self))
            } catch {
                throw Failure("--credentials-file: \(error.explanation)")
            }
        }
        secrets.credentials = credentials.isEmpty ? nil : credentials.joined(separator: "\n")
        if let proxy = arguments.value("proxy"), proxy.contains("@") { secrets.proxy = proxy }
        if arguments.value("proxy") == "env" {
            secrets.variables = environment.filter { isProxy($0.key) && $0.value.contains("@") }
        }
        return secrets
    }

    /// The command line of a job, and its secrets, as settings.
    static func session(_ process: JobProcess, _ interruption: Interruption) throws -> Session {
        let secrets = process.secrets.isEmpty ? Secrets() : try Secrets(process.secrets)
        for (name, value) in secrets.variables { unsafe setenv(name, value, 1) }
        let words =
            process.order.settings.dropFirst() + secrets.fields.map { "--header=" + $0 }
            + (secrets.proxy.map { ["--proxy=" + $0] } ?? [])
        var environment = ProcessInfo.processInfo.environment
        environment["MARQUEE_CREDENTIALS"] = secrets.credentials
        let arguments = try Arguments(Array(words), commands: commands.map { $0.specification })
        let sample = process.order.settings.first ?? ""
        return Session(
            arguments: arguments, settings: try Settings(arguments, environment: environment),
            output: Output(isQuiet: true), interruption: interruption,
            source: !sample.isEmpty ? .sample(folder: sample) : arguments.has("catalogue") ? nil : .missing)
    }

    /// This program, as a job's process. It gets of the environment what finding folders and libraries needs.
    static var command: JobCommand {
        let names: Set = ["HOME", "PATH", "TMPDIR", "TZ", "LANG", "MARQUEE_LIBCURL", "MARQUEE_LIBSQLITE"]
        let beginnings = ["XDG_", "LC_", "LD_LIBRARY", "MEMORY_PRESSURE_", "SSL_CERT_", "TSAN_", "ASAN_"]
        let environment = ProcessInfo.processInfo.environment.filter { name, value in
            names.contains(name) || beginnings.contains { name.hasPrefix($0) }
                || isProxy(name) && !value.contains("@")
        }
        return JobCommand(
            "/proc/self/exe", ["marquee"] + JobProcessCommand.words,
            environment: environment.reduce(into: [:]) { environment, variable in
                let isPath =
                    ["TMPDIR", "MARQUEE_LIBCURL", "MARQUEE_LIBSQLITE"].contains(variable.key)
                    || variable.key.hasPrefix("SSL_CERT_")
                // A library's bare name is looked for by the linker.
                environment[variable.key] =
                    isPath && variable.value.contains("/") ? absolute(variable.value) : variable.value
            })
    }

    private static func isProxy(_ name: String) -> Bool { name.lowercased().hasSuffix("_proxy") }

    /// The value of an option with its path, if it has one, made absolute: `FILE`, `DIR`, `FILE|URL`, `HOST=FILE|...`.
    private static func absolute(_ value: String, of option: Option) -> String {
        guard let shape = option.value else { return value }
        if shape.hasPrefix("HOST=FILE"), let end = value.firstIndex(of: "=") {
            let file = String(value[value.index(after: end)...])
            return file.hasPrefix("sha256//") ? value : value[...end] + absolute(file)
        }
        return shape.hasPrefix("FILE") || shape.hasPrefix("DIR") ? absolute(value) : value
    }

    private static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") || path.contains("://") { return path }
        return FileManager.default.currentDirectoryPath + "/" + path
    }
}
