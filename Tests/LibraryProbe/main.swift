import FilmSources
import Films
import Glibc

// Writes into a library as a separate process, for tests that kill it, fill its disk or run several:
//
//     LibraryProbe edit LIBRARY FILM COUNT     increments the film's member `count` COUNT times
//     LibraryProbe write LIBRARY NAME COUNT    adds films with posters and votes; changes some
//     LibraryProbe fill LIBRARY NAME COUNT     adds films with posters until the disk is full, then removes COUNT of them
//
// A fifth word is the size in bytes that no file may exceed: the kernel kills the process in the write that would.
// Without it such a write fails.
//
// After each write it prints the number of the film or of the edit. An error goes to standard error, with
// status 1.

/// A poster whose bytes identify the film.
func poster(_ number: Int) -> [UInt8] {
    (0..<(1000 + number * 977 % 60_000)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
}

func film(_ title: String) -> FilmDocument {
    var film = FilmDocument()
    film["title"] = JSONText(title)
    return film
}

func acknowledge(_ number: Int) {
    let line = Array("\(number)\n".utf8)
    _ = unsafe write(STDOUT_FILENO, line, line.count)
}

/// Has the kernel kill this process in the write that makes a file longer than this.
func dieInWrites(beyond bytes: rlim_t) {
    var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
    var noCore = rlimit(rlim_cur: 0, rlim_max: 0)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &noCore)
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    signal(SIGXFSZ, SIG_DFL)
    // The thread that started this process may have blocked it.
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigprocmask(SIG_SETMASK, &signals, nil)
}

func run(_ words: [String]) throws {
    guard words.count >= 5, let count = Int(words[4]) else { exit(2) }
    if words.count > 5, let bytes = rlim_t(words[5]) { dieInWrites(beyond: bytes) }
    let library = try FilmLibrary(path: words[2], access: .creating)
    if words[1] == "fill" {
        var added = 0
        while true {
            let bytes = PosterBytes(mediaType: "image/png", bytes: poster(added + 1))
            do {
                _ = try library.insert(film("Film"), id: "\(words[3])-\(added + 1)", poster: bytes)
            } catch FilmLibraryError.full {
                break
            }
            added += 1
        }
        for number in 1...count {
            guard try library.remove("\(words[3])-\(number)") else { exit(3) }
            acknowledge(number)
        }
        _ = try library.insert(film("Again"), id: "again")
        acknowledge(count + 1)
        return
    }
    for number in 1...count {
        if words[1] == "edit" {
            let changed = try library.update(words[3]) { film in
                var document = film.document
                document["count"] = JSONText(Int(document["count"]?.number ?? 0) + 1)
                return document
            }
            if changed == nil { exit(3) }
        } else {
            let id = "\(words[3])-\(number)"
            let bytes = PosterBytes(mediaType: "image/png", bytes: poster(number))
            _ = try library.insert(film("Film \(number)"), id: id, poster: bytes)
            if number % 5 == 0 { _ = try library.rate(id, rater: "ann", value: Double(number % 10)) }
            if number % 7 == 0 { _ = try library.replace(id, with: film("Changed \(number)"), poster: .keep) }
            if number % 3 == 0 { _ = try library.remove("\(words[3])-\(number - 1)") }
        }
        acknowledge(number)
    }
}

// As in the program, a full disk is an error to report.
signal(SIGXFSZ, SIG_IGN)
do {
    try run(CommandLine.arguments)
} catch {
    let line = Array("\(error)\n".utf8)
    _ = unsafe write(STDERR_FILENO, line, line.count)
    exit(1)
}
