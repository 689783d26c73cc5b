import BackgroundTransfers
import FilmSources
import FoundationEssentials
import LazyImages
import SystemSupport

/// The process of a job. `prewarm --detach` and `jobs resume` start it, never a person.
enum JobProcessCommand {
    /// The command line that starts it.
    static let words = ["jobs", "--process"]

    static func run(_ interruption: Interruption) async -> ExitStatus {
        let process: JobProcess
        do {
            process = try JobProcess()
        } catch {
            Output().failure("\(error)")
            return .nothingDone
        }
        do {
            let session = try JobSettings.session(process, interruption)
            let requests = try process.plan.items.map { item throws(ImageLoadingError) in
                session.request(
                    for: try URL(typed: item.url),
                    item.sendsFields ? session.settings.fields : HeaderFields(),
                    item.checksum)
            }
            let opened = session.makeLoader(keepsFiles: false)
            let status = await process.run(
                requests, with: opened.loader, concurrency: session.settings.downloads.transfers,
                wantsChecksums: session.settings.wantsChecksum, explain: \.advised)
            await opened.close()
            session.reportFaults()
            return ExitStatus(job: status)
        } catch {
            process.refuse(ImageLoadingError.advised(error))
            return .nothingDone
        }
    }
}

extension ExitStatus {
    /// The exit status of a job.
    init(job status: Int32) {
        self = [.done, .someFailed, .interrupted].first { $0.code == status } ?? .nothingDone
    }
}

/// The part of a command line that a job's process needs, and its secrets.
///
/// The job gets the options of the command line, with absolute paths, because its working folder is `/`. Options about
/// the output are left out. Secrets are separate: they go through a pipe and are never stored.
struct JobSettings: Sendable {
    /// The secrets, in the form that goes through the pipe.
    struct Secrets: Codable, Sendable {
        /// The values of --header.
        var fields: [String] = []
        /// Credentials by host, in the form of `MARQUEE_CREDENTIALS`. Those of the file come last, since they win.
        var credentials: String?
        /// The URL of a proxy with a password.
        var proxy: String?
        /// Variables that name a proxy with a password.
        var variables: [String: String] = [:]
        /// The URL of a shared store with a password.
        var shared: String?
        /// Variables with the credentials of a shared store.
        var storeVariables: [String: String]?

        init() {}

        /// Reads the secrets that a process has received.
        init(_ bytes: [UInt8]) throws(Failure) {
            do {
                self = try JSONDecoder().decode(Secrets.self, from: Data(bytes))
            } catch {
                throw Failure("its secrets cannot be read; start it with this version of marquee")
            }
        }

        /// Adds the secrets of a shared store: a password in its address, or the credentials of the environment.
        mutating func add(_ store: SharedStore, _ environment: [String: String]) {
            if store.text.contains("@") { shared = store.text }
            if store.text.lowercased().hasPrefix("s3") {
                storeVariables = environment.filter { $0.key.hasPrefix("AWS_") }
            }
        }

        var bytes: [UInt8] {
            // Ignored: texts can always be encoded.
            (try? JSONEncoder().encode(self)).map { [UInt8]($0) } ?? []
        }

        /// The secrets' names in messages.
        var names: [String] {
            (fields.isEmpty ? [] : ["--header"])
                + (credentials == nil ? [] : ["MARQUEE_CREDENTIALS or --credentials-file"])
                + (proxy == nil && variables.isEmpty ? [] : ["the password of a proxy"])
                + (shared == nil && storeVariables == nil ? [] : ["the credentials of --shared"])
        }
    }

    /// The sample catalogue: its folder, `sample` for the program's own, or an empty text if it is not the source; then
    /// the words of a command line.
    let stored: [String]
    let secrets: Secrets

    /// The part of a prewarm's command line that a job needs.
    init(_ session: Session) throws(Failure) {
        let environment = ProcessInfo.processInfo.environment
        var secrets = try Self.secrets(session.arguments, environment)
        if let store = session.settings.shared { secrets.add(store, environment) }
        self.secrets = secrets
        let abilities = session.provider.abilities
        var words = [
            abilities.sample, PrewarmCommand.specification.name,
            "--cache-dir=" + Self.absolute(session.settings.cacheFolder),
        ]
        if let store = session.settings.shared {
            words.append("--shared-key-file=" + Self.absolute(store.keyFile))
            if secrets.shared == nil { words.append("--shared=" + store.text) }
        }
        // The list has been read, and its address may contain a password. Only a library is needed beyond its list.
        if abilities.isLibrary, let path = abilities.file {
            words.append("--catalogue=" + Self.absolute(path))
        }
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

    /// Options that go another way, are secret, or are about the output.
    private static let left: Set<String> = [
        "cache-dir", "shared", "shared-key-file", "catalogue", "header", "credentials-file", "detach", "name",
        "json", "color", "graphics",
        "memory-size", "player", "quiet", "verbose", "help", "version",
    ]

    private static func secrets(_ arguments: Arguments, _ environment: [String: String]) throws(Failure)
        -> Secrets
    {
        var secrets = Secrets()
        secrets.fields = arguments.values("header")
        var credentials = environment["MARQUEE_CREDENTIALS"].map { [$0] } ?? []
        if let file = arguments.value("credentials-file") {
            let bytes = try Failure.naming("--credentials-file") { try FileCalls().contents(ofPath: file) }
            credentials.append(String(decoding: bytes, as: UTF8.self))
        }
        secrets.credentials = credentials.isEmpty ? nil : credentials.joined(separator: "\n")
        if let proxy = arguments.value("proxy"), proxy.contains("@") { secrets.proxy = proxy }
        if arguments.value("proxy") == "env" {
            secrets.variables = environment.filter { isProxy($0.key) && $0.value.contains("@") }
        }
        return secrets
    }

    /// The session of a job, from its command line and its secrets.
    static func session(_ process: JobProcess, _ interruption: Interruption) throws -> Session {
        let secrets = process.secrets.isEmpty ? Secrets() : try Secrets(process.secrets)
        // libcurl reads the proxies from the environment of the process.
        for (name, value) in secrets.variables { unsafe setenv(name, value, 1) }
        var words = Array(process.plan.settings.dropFirst())
        words += secrets.fields.map { "--header=" + $0 }
        if let proxy = secrets.proxy { words.append("--proxy=" + proxy) }
        if let shared = secrets.shared { words.append("--shared=" + shared) }
        var environment = ProcessInfo.processInfo.environment
        environment["MARQUEE_CREDENTIALS"] = secrets.credentials
        if let variables = secrets.storeVariables { environment.merge(variables) { _, own in own } }
        let arguments = try Arguments(words)
        let provider: (any FilmProvider)?
        switch process.plan.settings.first ?? "" {
        case "": provider = arguments.has("catalogue") ? nil : FilmProviders.none
        case let sample: provider = SampleCatalogue(named: sample)
        }
        return Session(
            arguments: arguments, settings: try Settings(arguments, environment: environment),
            output: Output(isQuiet: true), interruption: interruption,
            provider: provider)
    }

    /// This program as a job's process. Its environment has only what is needed to find folders and libraries.
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
                // The dynamic linker searches for a library's bare name.
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
        path.contains("://") ? path : TokenCommand.absolute(path)
    }
}

extension PrewarmCommand {
    /// Starts a job that fills the cache from the list, and returns.
    static func detach(_ list: List, _ session: Session) throws -> ExitStatus {
        let settings = try JobSettings(session)
        var items: [JobPlan.Item] = []
        for (request, sendsFields) in list.requests {
            guard request.fields == (sendsFields ? session.settings.fields : HeaderFields()) else {
                throw Failure(
                    "\(request.url.displayText): its address holds a password, which a job would store; give it with --credentials-file",
                    code: "credentials-in-address")
            }
            items.append(
                JobPlan.Item(
                    url: request.url.absoluteString, checksum: request.checksum, sendsFields: sendsFields))
        }
        let plan = JobPlan(
            items, settings: settings.stored, secretNames: settings.secrets.names, rejected: list.rejected,
            refusesCellular: session.arguments.has("no-cellular"))
        let jobs = BackgroundJobs.ofMarquee
        let job: BackgroundJob
        do {
            let name = try session.arguments.value("name") ?? freeName(session, jobs)
            job = try jobs.start(
                plan, named: name, secrets: settings.secrets.bytes, by: JobSettings.command)
        } catch let error as BackgroundJobsError {
            throw Failure(error)
        }
        let images = plan.items.count == 1 ? "1 image" : "\(plan.items.count.grouped) images"
        let line = "job \(job.name)  \(images)   marquee jobs attach \(job.name)"
        try JobsCommand.say(job, session, line: line)
        return .done
    }

    /// A name that no job has: the manifest's, with a number if needed.
    private static func freeName(_ session: Session, _ jobs: BackgroundJobs) throws(BackgroundJobsError)
        -> String
    {
        let operand = session.arguments.operands.first ?? ""
        let file = operand.split(separator: "/").last.map { $0.prefix { !"?#".contains($0) } } ?? ""
        let stem = file.lastIndex(of: ".").map { file[..<$0] } ?? file
        let plain = stem.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
            .prefix(48)
        let name = BackgroundJobs.isName(String(plain)) ? String(plain) : "prewarm"
        let taken = Set(try jobs.list().map(\.name))
        var number = 1
        var free = name
        while taken.contains(free) {
            number += 1
            free = "\(name)-\(number)"
        }
        return free
    }
}

extension Failure {
    /// Why a job command failed, and what to do.
    /// - Parameter action: the word after `marquee jobs`; nil if a job was to start.
    init(_ error: BackgroundJobsError, of action: String? = nil) {
        let advice: String? =
            switch error {
            case .running(let name) where action == "remove":
                "end it first with marquee jobs cancel \(name)"
            case .running(let name) where action != nil: "follow it with marquee jobs attach \(name)"
            case .running(let name):
                "follow it with marquee jobs attach \(name), or give another name with --name"
            case .exists(let name):
                "continue with marquee jobs resume \(name), or remove it with marquee jobs remove \(name)"
            case .notFound: "marquee jobs lists them"
            case .notRunning(let name): "remove it with marquee jobs remove \(name)"
            case .complete(let name): "see its results with marquee jobs attach \(name)"
            case .storageFailed: "set XDG_STATE_HOME to a writable folder"
            case .invalidName, .secretsMissing, .notStarted: nil
            }
        self.init(advice.map { "\(error); \($0)" } ?? "\(error)", code: error.code)
    }
}
