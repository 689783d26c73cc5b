import FilmSources
import Films
import FoundationEssentials
import HTTPSemantics
import LazyImages
import SystemSupport

/// Something to fetch: an address and its base URL.
struct FetchTarget: Sendable {
    let address: String
    var base: BaseURL?
    /// The file's name for a film or a pipe; nil if the address gives the name.
    var name: String?
    /// The bytes of a pipe, which stand for it; nil for other targets.
    private var pipe: PipeContent?

    /// The target that a word names without a catalogue: an address, or the path of a file. Nil for a film, and for a
    /// bare name: a film may be called so.
    init?(_ word: String) {
        if Self.isAddress(word) {
            self.init(address: word)
        } else if Self.isPath(word) {
            self.init(file: word)
        } else {
            return nil
        }
    }

    /// An address as typed, or a film's poster.
    init(address: String, base: BaseURL? = nil, name: String? = nil) {
        (self.address, self.base, self.name) = (address, base, name)
    }

    /// The file at a path.
    init(file path: String) { address = CommandLineWords.address(ofFile: path) }

    /// The bytes of a pipe.
    /// - Parameter label: the pipe's name in messages. Default: standard input.
    init(pipe bytes: [UInt8], label: String = "standard input") throws(Failure) {
        let pipe = try PipeContent(bytes, label: label)
        (address, name, self.pipe) = (pipe.address, "picture", pipe)
    }

    /// Standard input. Waits until it ends.
    static func standardInput(_ session: Session) async throws(Failure) -> FetchTarget {
        try FetchTarget(pipe: await Input.standard(limit: session.settings.downloads.maximumBytes))
    }

    /// The same target. If it is a pipe, such as `/dev/stdin` and a shell's `<(command)`, waits for its bytes, which
    /// can then be read more than once.
    func readingPipe(_ session: Session) async throws(Failure) -> FetchTarget {
        guard let path = filePath, FileKind(path) == .stream else { return self }
        let bytes = try await Input.file(path, limit: session.settings.downloads.maximumBytes)
        return try FetchTarget(pipe: bytes, label: path)
    }

    /// The path of a file in UTF-8; nil for other targets.
    var filePath: String? {
        guard let url = URL(string: address), url.isFileURL else { return nil }
        return url.path
    }

    /// Whether a word is an address and not a film: it has a scheme followed by `//`, or is a data URL.
    static func isAddress(_ word: String) -> Bool {
        word.contains("://") || word.lowercased().hasPrefix("data:") || word.lowercased().hasPrefix("file:")
    }

    /// Whether a word is a path whatever films there are: it begins like a path, or it has a slash and the file exists.
    private static func isPath(_ word: String) -> Bool {
        if ["/", "./", "../"].contains(where: { word.hasPrefix($0) }) { return true }
        return word.contains("/") && isFile(word)
    }

    /// Whether there is a file or a folder of this name.
    static func isFile(_ word: String) -> Bool { FileKind(word) != nil }

    /// Why a symbolic link leads to no file; nil if the word is no link, or leads to one.
    static func faultOfLink(_ word: String) -> String? {
        var status = stat()
        guard unsafe lstat(word, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return nil }
        return unsafe stat(word, &status) == 0 ? nil : SystemError.text(errno, ofPath: Array(word.utf8))
    }

    /// Whether a word may be an address without its scheme: `example.org/a.jpg`.
    fileprivate static func looksLikeAddress(_ word: String) -> Bool {
        guard let slash = word.firstIndex(of: "/"), slash != word.startIndex else { return false }
        let host = word[..<slash]
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, !labels.contains(""), let last = labels.last, last.count > 1 else {
            return false
        }
        return last.allSatisfy { $0.isASCII && $0.isLetter } && !isFile(String(host))
    }

    /// Whether a name has the suffix of a picture.
    static func looksLikePicture(_ name: String) -> Bool {
        MediaType.isPicture(Array(name.utf8))
    }

    var isPipe: Bool { pipe != nil }

    /// The address in its record, without credentials; for a pipe, its name.
    var displayText: String {
        if let pipe { return pipe.label }
        // Ignored: an invalid address is shown as typed.
        return (try? URL(typed: address, relativeTo: base?.url))?.displayText ?? address
    }

    /// A message about the target, which names a pipe as the user does.
    func naming(_ message: String) -> String {
        guard let pipe else { return message }
        return message.replacing(pipe.address, with: pipe.label).replacing(pipe.path, with: pipe.label)
    }
}

/// What a path leads to.
enum FileKind {
    case file, folder
    /// A pipe, a socket or a device: its bytes can be read once.
    case stream

    /// Nil if there is nothing, or it may not be looked at.
    init?(_ path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: self = .file
        case S_IFDIR: self = .folder
        default: self = .stream
        }
    }
}

/// The bytes of a pipe in a file without a name, so that they load as any other file does.
private final class PipeContent: Sendable {
    /// The pipe's name in messages.
    let label: String
    private let file: Descriptor

    init(_ bytes: [UInt8], label: String) throws(Failure) {
        self.label = label
        do throws(FileFault) {
            file = try FileCalls().openUnnamed(in: FileManager.default.temporaryDirectory.path)
            try FileCalls().write(bytes, to: file)
        } catch {
            throw Failure("\(label): \(error); set TMPDIR to a folder with room")
        }
    }

    /// The path that leads to the open file.
    var path: String { "/proc/self/fd/\(file.number)" }

    var address: String { "file://" + path }
}

extension Session {
    /// The film that a word names; nil if it names a file. A file comes before a film whose title has only a part of
    /// the word, or a similar word; a film whose id or title it is comes before the file, and a note says so.
    /// - Throws: `Failure` if there is neither, with the films that may be meant.
    fileprivate func filmUnlessFile(_ word: String, in catalogue: Catalogue) throws(Failure) -> Movie? {
        let isFile = FetchTarget.isFile(word)
        do throws(Failure) {
            let movie = try film(word, in: catalogue)
            return choose(movie, word, isFile)
        } catch {
            return try fileInstead(of: word, isFile, because: error)
        }
    }

    /// The same, where a service may be asked for the one film.
    func findUnlessFile(_ word: String) async throws -> FoundFilm? {
        let isFile = FetchTarget.isFile(word)
        do {
            let found = try await find(word)
            return choose(found.movie, word, isFile) == nil ? nil : found
        } catch let error as Failure {
            _ = try fileInstead(of: word, isFile, because: error)
            return nil
        } catch  where isFile && !Task.isCancelled {
            return nil
        }
    }

    private func choose(_ movie: Movie, _ word: String, _ isFile: Bool) -> Movie? {
        guard isFile else { return movie }
        guard movie.id == word || movie.title.lowercased() == word.lowercased() else { return nil }
        output.notice("\(word) is the film \"\(movie.title)\"; for the file of this name, write ./\(word)")
        return movie
    }

    private func fileInstead(
        of word: String, _ isFile: Bool, because error: Failure
    ) throws(Failure) -> Movie? {
        if isFile { return nil }
        let fault = FetchTarget.faultOfLink(word)
        // A word with a slash, or with the suffix of a picture, can only mean a file.
        let isForFile = fault != nil || word.contains("/") || FetchTarget.looksLikePicture(word)
        guard error.code == "no-such-film", isForFile else { throw error }
        let advice =
            FetchTarget.looksLikeAddress(word) ? "for the address, write https://\(word)" : "check the path"
        throw Failure("\(word): \(fault ?? "there is no such file"); \(advice)", code: "no-such-file")
    }
}

/// The targets of `fetch`, one after the other: its operands and, in place of `-`, the lines of standard input, each as
/// soon as it arrives. A word that names nothing becomes a failure of its own and does not stop the others.
actor FetchTargets {
    typealias Item = Batch.Entry<FetchTarget>

    private let session: Session
    private let words: OperandWords
    private var catalogue: Result<OpenCatalogue, any Error>?
    /// The number of targets so far.
    private(set) var count = 0

    init(_ session: Session) {
        self.session = session
        words = OperandWords(session.arguments.operands[...])
    }

    /// The next target; nil at the end. One caller at a time.
    func next() async throws(Failure) -> Item? {
        guard let word = try await words.next() else { return nil }
        count += 1
        if let target = FetchTarget(word) { return .item(try await target.readingPipe(session)) }
        if catalogue == nil {
            let opened: Result<OpenCatalogue, any Error>
            do {
                let open = try await session.catalogue(orCached: true)
                session.reportOutage(of: open)
                opened = .success(open)
            } catch {
                opened = .failure(error)
            }
            if !Task.isCancelled { catalogue = opened }
        }
        return item(film: word)
    }

    /// The remaining targets as far as they are known, for a program that is ending. Does not wait.
    func rest() async -> [FetchRecord] {
        await words.rest().map { word in
            switch FetchTarget(word).map(Item.item) ?? item(film: word) {
            case .item(let target):
                return FetchRecord(.cancelled(url: target.displayText), of: target.displayText)
            case .failure(let record): return record
            }
        }
    }

    private func item(film word: String) -> Item {
        switch catalogue {
        case nil: .failure(FetchRecord(.cancelled(url: word), of: word))
        case .failure where FetchTarget.isFile(word): .item(FetchTarget(file: word))
        case .failure(let error as ImageLoadingError): .failure(FetchRecord(error, of: word))
        case .failure(let error as Failure) where error.code != "failure":
            .failure(FetchRecord(error, of: word))
        case .failure(let error):
            .failure(FetchRecord(Failure("\(error)", code: "unreadable-catalogue"), of: word))
        case .success(let open): item(film: word, in: open)
        }
    }

    private func item(film word: String, in open: OpenCatalogue) -> Item {
        do throws(Failure) {
            guard let movie = try session.filmUnlessFile(word, in: open.catalogue) else {
                return .item(FetchTarget(file: word))
            }
            guard let poster = movie.poster else {
                throw Failure(
                    "\(movie.title) has no poster in the catalogue; add the address of one there",
                    code: "no-poster")
            }
            return .item(FetchTarget(address: poster, base: open.base, name: movie.id))
        } catch {
            return .failure(FetchRecord(error, of: word))
        }
    }
}
