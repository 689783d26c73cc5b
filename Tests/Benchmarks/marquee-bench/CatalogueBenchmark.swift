import CSystem
import Foundation
import Glibc
import SystemSupport
import TestSupport

/// A catalogue of many films (100,000 are 51 MB of JSON): the cost of listing one film, of listing all as JSON, of the
/// browser's first screen, and of a key of the filter.
///
/// The reference for each list is Python's parser, written in C, in the same run; the ratio counts. Memory is the peak
/// of a run with its shared libraries; for the browser, from its start to the last key.
func catalogueBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    let films = options.number("films", default: 100_000)
    let scratch = try ScratchFolder()
    let file = try scratch.new("catalogue") + "/films.json"
    let bytes = try CatalogueWriter(films: films).write(to: file)
    let program = try Program.path("marquee")
    let shared = ["--catalogue", file, "--cache-dir", try scratch.new("cache")]
    let python = ["-c", "import json, sys; json.load(open(sys.argv[1], encoding='utf-8'))", file]
    var results = [
        BenchmarkResult(
            name: "catalogue of \(films) films", unit: "MB", ours: (Double(bytes) / 1e5).rounded() / 10)
    ]
    for words in [["--top", "1"], ["--top", "1", "--json"], ["--json"]] {
        var memory = 0.0
        let time = try await alternating(
            runs: options.runs,
            ours: { memory = max(memory, try MeasuredProcess.run(program, ["list"] + words + shared)) },
            reference: options.wantsReference
                ? { _ = try MeasuredProcess.run("/usr/bin/python3", python) } : nil)
        let name = (["list"] + words).joined(separator: " ")
        results.append(
            BenchmarkResult(
                name: name, unit: "s", ours: time.ours, reference: time.reference,
                referenceName: "python json"))
        results.append(
            BenchmarkResult(
                name: name + ", memory", unit: "MB", ours: memory / 1e6, atMost: 300))
    }
    return results + (try browse(options, films: films, program, shared))
}

private func browse(
    _ options: Options, films: Int, _ program: String, _ arguments: [String]
) throws -> [BenchmarkResult] {
    var (first, keys, memory): ([Double], [Double], Double) = ([], [], 0)
    for _ in 0..<options.runs {
        let run = try FilteredBrowser(program, arguments, films: films)
        first.append(run.firstScreen)
        keys += run.keys
        memory = max(memory, run.memory)
    }
    // The goals for 100,000 and for 10,000 films.
    let bound = films > 10_000 ? 50.0 : 16
    return [
        BenchmarkResult(
            name: "browser: first screen", unit: "s", ours: median(first), atMost: 3.5),
        BenchmarkResult(
            name: "browser: a key of the filter, median", unit: "ms", ours: median(keys) * 1000,
            atMost: bound),
        BenchmarkResult(
            name: "browser: a key of the filter, slowest", unit: "ms", ours: (keys.max() ?? .nan) * 1000,
            atMost: bound),
        BenchmarkResult(
            name: "browser: memory", unit: "MB", ours: memory / 1e6, atMost: 300),
    ]
}

/// One run of the browser in a pseudoterminal. A filter is typed and deleted, key by key.
private struct FilteredBrowser {
    private static let filter = "silent moon 19"

    /// From the start of the process to the first film on the screen, in seconds.
    let firstScreen: Double
    /// From each key to the frame with its result, in seconds.
    private(set) var keys: [Double] = []
    /// The peak memory in bytes.
    let memory: Double

    init(_ program: String, _ arguments: [String], films: Int) throws {
        let start = ContinuousClock.now
        let terminal = try PseudoTerminal(program, arguments, environment: ["COLORTERM": "truecolor"])
        try Self.wait(terminal, "the first screen") { $0.text(ofRow: 0).hasSuffix(" 1/\(films)") }
        firstScreen = start.duration(to: .now) / .seconds(1)
        terminal.type("/")
        try Self.wait(terminal, "the filter") { $0.text(ofRow: 0).contains("/▏") }
        var typed = ""
        for key in Self.filter.map(String.init) + Array(repeating: "\u{7F}", count: Self.filter.count) {
            if key == "\u{7F}" { typed.removeLast() } else { typed += key }
            let pressed = ContinuousClock.now
            terminal.type(key)
            try Self.wait(terminal, "what is left by \"\(typed)\"") {
                $0.text(ofRow: 0).contains("/\(typed)▏")
            }
            keys.append(pressed.duration(to: .now) / .seconds(1))
        }
        memory = Double(try PeakMemory.kibibytes("VmHWM", of: "\(terminal.process)")) * 1024
        // The first key leaves the filter.
        terminal.type("\rq")
        guard terminal.waitForEnd() == .exited(0) else {
            throw BenchmarkFailure(description: "the browser did not end in order")
        }
    }

    private static func wait(
        _ terminal: PseudoTerminal, _ what: String, until isReached: (VirtualScreen) -> Bool
    ) throws {
        // Mode 2026 is set while a frame is being written.
        guard terminal.waits(seconds: 120, until: { !$0.modes.contains(2026) && isReached($0) }) else {
            throw BenchmarkFailure(
                description: "waited in vain for \(what):\n" + terminal.screen.rows.joined(separator: "\n"))
        }
    }
}

/// Writes a catalogue that is the same for the same number of films: members in varying order, some left out, texts
/// with accents and escapes, and members unknown to Marquee.
private struct CatalogueWriter {
    private static let words = """
        silent season moon train night city river house golem shadow lost empire garden street winter woman king dream castle \
        machine ocean desert storm letter secret golden iron paper music dance circus doctor soldier painter journey
        """.split(separator: " ").map(String.init)
    private static let accented = [
        "Häxan", "Élan", "Łódź", "Señora", "Über", "Žena", "Ōsaka", "東京", "Мать", "Mädchen",
    ]
    private static let names = [
        "Georges Méliès", "Fritz Lang", "Luis Buñuel", "Lois Weber", "F. W. Murnau", "Dziga Vertov",
    ]
    private static let genres = ["Horror", "Fantasy", "Drama", "Comedy", "Science fiction"]

    private let films: Int
    private var random = SeededNumbers(seed: 1)

    init(films: Int) { self.films = films }

    /// Returns the number of bytes written.
    func write(to path: String) throws -> Int {
        var writer = self
        var text = #"{"name": "Many", "edition": {"number": 3},"# + "\n \"movies\": [\n"
        for number in 0..<films { text += writer.film(number) + (number + 1 < films ? ",\n" : "\n") }
        text += "]}\n"
        try Data(text.utf8).write(to: URL(filePath: path))
        return text.utf8.count
    }

    private mutating func film(_ number: Int) -> String {
        var members = [
            #""id": "film-\#(number)""#, #""title": "\#(title())""#, #""year": \#(below(130) + 1895)"#,
            #""director": "\#(one(of: Self.names))""#, #""genres": ["\#(one(of: Self.genres))", "Silent"]"#,
            #""overview": "\#(text(31)). She says \"\#(text(4))\" – \#(text(8)).""#,
        ]
        if below(3) == 0 { members.append(#""originalTitle": "\#(one(of: Self.accented)) \#(text(2))""#) }
        if below(10) > 0 { members.append(#""poster": "posters/\#(number).jpg""#) }
        if below(10) > 0 { members.append(#""score": \#(below(90) + 10)e-1"#) }
        if below(10) > 0 { members.append(#""minutes": \#(below(200) + 5)"#) }
        if below(2) == 0 { members.append(#""imdb": "tt\#(number)", "colour": false, "note": null"#) }
        if below(3) == 0 {
            members.append(#""cast": [{"name": "\#(one(of: Self.names))", "role": "\#(text(1))"}]"#)
        }
        let first = below(members.count)
        return "{" + (members[first...] + members[..<first]).joined(separator: ", ") + "}"
    }

    private mutating func title() -> String {
        text(below(3) + 1).capitalized + (below(8) == 0 ? " " + one(of: Self.accented) : "")
    }

    private mutating func text(_ count: Int) -> String {
        (0..<count).map { _ in one(of: Self.words) }.joined(separator: " ")
    }

    private mutating func one(of texts: [String]) -> String { texts[below(texts.count)] }

    private mutating func below(_ limit: Int) -> Int { random.below(limit) }
}

/// A program that runs to its end, and its memory.
private enum MeasuredProcess {
    /// Runs a program, discards its output, and returns its peak memory in bytes.
    static func run(_ program: String, _ arguments: [String]) throws -> Double {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for stream in [STDOUT_FILENO, STDERR_FILENO] {
            unsafe posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0)
        }
        let words: [UnsafeMutablePointer<CChar>?] =
            unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe words.indices { unsafe free(words[index]) } }
        var process = pid_t()
        let failure = unsafe posix_spawn(&process, program, &actions, nil, words, environ)
        guard failure == 0 else { throw BenchmarkFailure(description: "\(program) does not start") }
        var status: Int32 = 0
        var usage = rusage()
        while unsafe wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
        guard status == 0 else {
            throw BenchmarkFailure(description: "\(program) ended with status \(status)")
        }
        return Double(usage.ru_maxrss) * 1024
    }
}
