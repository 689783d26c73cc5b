import CMarqueeSystem
import FoundationEssentials
import ImageCodecs
import LazyImages
import SystemSupport

/// What happens to a file that is already there with other content.
enum ExistingFile: Sendable {
    /// It stays; the new file gets a number: `metropolis-2.jpg`.
    case number
    /// It stays, and writing fails.
    case refuse
    /// The new file takes its place: `--force`.
    case replace
    /// The new file takes the place of a picture or an empty file. Any other file stays, and writing fails.
    case replacePicture
    /// It stays, and nothing is written: `--no-clobber`.
    case keep

    /// The choice of the command line, else the command's own.
    init(_ arguments: Arguments, else usual: ExistingFile) throws(UsageError) {
        switch (arguments.has("force"), arguments.has("no-clobber")) {
        case (true, true): throw UsageError("--force and --no-clobber exclude each other")
        case (true, false): self = .replace
        case (false, true): self = .keep
        case (false, false): self = usual
        }
    }

    /// Whether another file gives way.
    var replaces: Bool { self == .replace || self == .replacePicture }

    static let options = [
        Option(name: "force", letter: "f", help: "replace files that are there with other content"),
        Option(name: "no-clobber", letter: "n", help: "keep files that are there, and write nothing then"),
    ]
}

/// Where a file is, and whether it was written.
struct WrittenFile: Sendable, Hashable {
    enum Outcome: Sendable {
        case written
        /// It was there with the same bytes.
        case same
        /// Another file was there, and was kept.
        case kept
    }

    let path: String
    var outcome = Outcome.written
}

/// A file that a command writes, whole or not at all.
struct OutputFile: Sendable {
    /// The most names that are tried: `nosferatu.jpg`, `nosferatu-2.jpg` and so on.
    private static let mostNames = 1000

    let folder: String
    /// The name without the ending, which numbers come before.
    let stem: String
    /// `.jpg`, or empty.
    let ending: String

    /// The path with a number; 1 stands for none.
    func path(_ number: Int = 1) -> String {
        let prefix = folder == "." ? "" : folder == "/" ? "/" : folder + "/"
        return prefix + stem + (number == 1 ? "" : "-\(number)") + ending
    }

    /// Writes the bytes of an image on one of the threads. A file with the same bytes is left alone, and the image's
    /// own file is never replaced by other bytes.
    func write(
        _ image: LoadedFile, _ existing: ExistingFile, on threads: BlockingThreads
    ) async throws(Failure) -> WrittenFile {
        if let stream = try await openIfStream() {
            return try await write(image.bytes.array, toStream: stream, on: threads)
        }
        return try await threads.run({ Failure($0, doing: path()) }) { () throws(Failure) in
            let source = LocalContent.fileNumber(of: image.url)
            return try write(Data(image.bytes.array), existing, from: source)
        }
    }

    /// Writes bytes to a file. Blocks.
    /// - Parameter source: the file that the bytes were made from. It is never replaced.
    func write(
        _ bytes: Data, _ existing: ExistingFile, from source: FileNumber? = nil
    ) throws(Failure) -> WrittenFile {
        for number in 1...(existing == .number ? Self.mostNames : 1) {
            let file = path(number)
            if Self.holds(file, bytes) { return WrittenFile(path: file, outcome: .same) }
            if existing.replaces, let source, FileNumber(file) == source {
                throw Failure(
                    "\(file): this is the source itself; name another file with -o", code: "not-written")
            }
            if existing == .replacePicture, try !Self.isPictureOrEmpty(file) {
                throw Failure(
                    "\(file): there is a file of this name that is no picture; replace it with --force, "
                        + "or choose another name", code: "not-written")
            }
            if let kept = try Self.kept(file, existing) { return kept }
            if existing == .number, FileKind(file) != nil { continue }
            let part = part
            defer { unsafe unlink(part) }
            let descriptor = try Self.create(part, for: file)
            try Self.writer(descriptor.number, file)(Array(bytes))
            if let written = try Self.place(part, as: file, existing) { return written }
        }
        throw Failure("\(path()): this name and \(Self.mostNames - 1) more are taken; choose another folder")
    }

    /// A new name beside the file, which it has until it is whole.
    private var part: String { folder + "/.marquee-\(UInt64.random(in: .min ... .max))" }

    /// The file that is there, if it stays; nil if it may be written.
    private static func kept(_ file: String, _ existing: ExistingFile) throws(Failure) -> WrittenFile? {
        guard [.keep, .refuse].contains(existing), FileKind(file) != nil else { return nil }
        if existing == .keep { return WrittenFile(path: file, outcome: .kept) }
        throw Failure(
            "\(file): there is another file of this name; replace it with --force, or choose another name",
            code: "not-written")
    }

    /// Gives a written part its name. Nil if another file has just taken a name that may be numbered.
    private static func place(
        _ part: String, as file: String, _ existing: ExistingFile
    ) throws(Failure) -> WrittenFile? {
        var code: Int32 = 0
        if existing.replaces {
            // A replaced file keeps its permissions.
            var status = stat()
            if unsafe stat(file, &status) == 0 { unsafe chmod(part, status.st_mode & 0o7777) }
            if unsafe rename(part, file) != 0 { code = errno }
        } else {
            code = giveName(file, to: part)
        }
        if code == 0 { return WrittenFile(path: file) }
        guard code == EEXIST else { throw unwritable(file, code) }
        return try kept(file, existing)
    }

    /// Opens a pipe or a device, such as `/dev/null`, which the caller closes; nil if the path is neither. Such a
    /// file is written to, never replaced. A named pipe has to wait for its reader. It does so on a thread of its own,
    /// because only the end of the program interrupts that wait.
    func openIfStream() async throws(Failure) -> Int32? {
        let file = path()
        guard FileKind(file) == .stream else { return nil }
        return try await Input.reading { () throws(Failure) in
            let number = unsafe csystem_open(file, O_WRONLY, 0)
            guard number >= 0 else { throw Self.unwritable(file, errno) }
            return number
        }
    }

    private func write(
        _ bytes: [UInt8], toStream number: Int32, on threads: BlockingThreads
    ) async throws(Failure) -> WrittenFile {
        let file = path()
        return try await threads.run({ Failure($0, doing: file) }) { () throws(Failure) in
            let stream = Descriptor(number)
            try Self.writer(stream.number, file)(bytes)
            return WrittenFile(path: file)
        }
    }

    /// A function that writes bytes to a descriptor.
    /// - Parameter file: the name in errors.
    private static func writer(_ number: Int32, _ file: String) -> ([UInt8]) throws(Failure) -> Void {
        { bytes throws(Failure) in
            do throws(FileFault) {
                try FileCalls().write(bytes, toStream: number)
            } catch {
                throw unwritable(file, error.code)
            }
        }
    }

    /// Lets `body` write the file piece by piece. The file appears when `body` has returned. Blocks.
    /// - Parameters:
    ///   - existing: as in `write`; a file is never numbered.
    ///   - stream: from `openIfStream`; it is closed.
    ///   - body: gets a function that writes bytes.
    func write(
        _ existing: ExistingFile, toStream stream: Int32?,
        _ body: (_ write: ([UInt8]) throws(Failure) -> Void) throws -> Void
    ) throws -> WrittenFile {
        let file = path()
        if let stream {
            let stream = Descriptor(stream)
            try body(Self.writer(stream.number, file))
            return WrittenFile(path: file)
        }
        let existing = existing == .number ? .refuse : existing
        if let kept = try Self.kept(file, existing) { return kept }
        let part = part
        defer { unsafe unlink(part) }
        let descriptor = try Self.create(part, for: file)
        try body(Self.writer(descriptor.number, file))
        if let written = try Self.place(part, as: file, existing) { return written }
        throw Self.unwritable(file, EEXIST)
    }

    private static func unwritable(_ file: String, _ code: Int32) -> Failure {
        Failure("\(file): cannot be written: \(SystemError.text(code))", code: "not-written")
    }

    /// Whether a file has exactly these bytes. A pipe or a device is not read: it might never end.
    static func holds(_ file: String, _ bytes: Data) -> Bool {
        var status = stat()
        guard unsafe stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            Int(status.st_size) == bytes.count
        else { return false }
        // Ignored: an unreadable file is written again.
        return (try? FileCalls().contents(ofPath: file).elementsEqual(bytes)) ?? false
    }

    /// Whether a file may be replaced because it is a picture by its first bytes, or is empty or absent.
    private static func isPictureOrEmpty(_ file: String) throws(Failure) -> Bool {
        guard FileKind(file) == .file else { return true }
        let beginning = Array(try Input.beginning(of: file))
        return beginning.isEmpty || ImageFormat(detecting: beginning.span) != nil
    }

    /// Creates a file. Its path is left as it is: Foundation would complete it with the working folder, whose name need not
    /// be UTF-8.
    private static func create(_ path: String, for file: String) throws(Failure) -> Descriptor {
        let number = unsafe csystem_open(path, O_WRONLY | O_CREAT | O_EXCL, 0o666)
        guard number >= 0 else { throw unwritable(file, errno) }
        return Descriptor(number)
    }

    /// Gives a file a name that is still free: 0, or the system's error number.
    private static func giveName(_ path: String, to part: String) -> Int32 {
        if unsafe link(part, path) == 0 { return 0 }
        guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { return errno }
        // The file system has no links: an empty file claims the name first.
        let claim = unsafe csystem_open(path, O_WRONLY | O_CREAT | O_EXCL, 0o644)
        if claim < 0 { return errno }
        close(claim)
        return unsafe rename(part, path) == 0 ? 0 : errno
    }
}

extension OutputFile {
    /// The file at a path.
    init(_ path: String) {
        let name = path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
        let folder = path.dropLast(name.count)
        let dot = OutputFolder.dot(in: name) ?? name.endIndex
        self.init(
            folder: folder.isEmpty ? "." : folder == "/" ? "/" : String(folder.dropLast()),
            stem: String(name[..<dot]), ending: String(name[dot...]))
    }
}

/// Where `-o` leads.
enum OutputPlace: Sendable {
    case standardOutput
    case file(OutputFile, ExistingFile)
    case folder(OutputFolder)

    /// A path is a folder if it is one or ends with a slash; a file if it has the suffix of a picture; else it is what
    /// the command makes of one picture.
    /// - Parameters:
    ///   - isSingle: whether there is exactly one picture.
    ///   - makesFile: whether a name without a suffix is a file for a single picture. Default: a folder.
    ///   - existing: what happens to another file. A file that the user named gets no number.
    init(_ path: String, isSingle: Bool, makesFile: Bool = false, existing: ExistingFile) throws {
        if path.isEmpty { throw UsageError("--output needs a file or a folder") }
        if FetchTarget.isAddress(path) { throw UsageError("--output needs a path, not \"\(path)\"") }
        if path == "-" {
            guard isSingle else { throw UsageError("-o - takes one picture; name a folder for several") }
            self = .standardOutput
            return
        }
        let kind = FileKind(path)
        let isNamed = FetchTarget.looksLikePicture(path)
        if kind == .folder || path.hasSuffix("/") || (!isNamed && kind != .stream && !(makesFile && isSingle))
        {
            self = .folder(try OutputFolder(path, existing: existing))
            return
        }
        guard isSingle || kind == .stream else {
            throw UsageError(
                "\(path) is one file, and there may be several pictures; name a folder, as \(path)/")
        }
        self = .file(OutputFile(path), existing == .number ? .refuse : existing)
    }

    /// Writes the file of a request here; nil for standard output. A folder claims its name now.
    /// - Parameter name: the file's name; nil for the address's.
    func writer(
        of request: ImageRequest, _ name: String?
    ) -> (@Sendable (LoadedFile) async throws(Failure) -> WrittenFile)? {
        switch self {
        case .standardOutput: return nil
        case .file(let file, let existing):
            return { image throws(Failure) in
                try await file.write(image, existing, on: BlockingThreads(count: 1))
            }
        case .folder(let folder):
            let name = folder.claim(request, name: name)
            return { image throws(Failure) in try await folder.write(image, as: name) }
        }
    }
}

/// The folder of `-o`. Each file appears whole or not at all, and an equal file is left alone. Names are claimed before
/// anything is fetched; the first to claim a name gets it without a number.
final class OutputFolder: Sendable {
    fileprivate struct Claims {
        /// The name of each address.
        var names: [CacheKey: String] = [:]
        /// The claimed names, and the same without their endings.
        var taken: Set<String> = []
        var stems: Set<String> = []
        /// The last number for each name.
        var numbers: [String: Int] = [:]
    }

    private let path: String
    private let existing: ExistingFile
    private let threads = BlockingThreads(count: 1)
    private let claims = Lock(Claims())

    /// Makes the folder if it does not exist.
    /// - Parameter existing: what happens to other files of the same names.
    init(_ path: String, existing: ExistingFile) throws(Failure) {
        self.existing = existing
        // All slashes but the first: "/" is the root.
        let trimmed = path.lastIndex { $0 != "/" }.map { String(path[...$0]) }
        self.path = trimmed ?? path
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            let kind = FileKind(self.path)
            let reason = kind == nil ? Self.reason(self.path) : "there is a file of this name"
            throw Failure("\(path): cannot make the folder: \(reason); choose another with -o")
        }
        guard unsafe access(path, W_OK | X_OK) == 0 else {
            throw Failure("\(path): the folder is not writable; choose another with -o")
        }
    }

    /// The system's reason why a folder cannot be made: Foundation's error has none.
    private static func reason(_ path: String) -> String {
        do throws(FileFault) {
            try FileCalls().makeFolders(path)
            return "it is there now; try again"
        } catch {
            return SystemError.text(error.code)
        }
    }

    /// The file's name: the film's, or the last part of the address: `poster.jpg`, `poster-2.jpg`, … No other file of
    /// this run has this name, whatever its ending.
    func claim(_ request: ImageRequest, name: String?) -> String {
        let (stem, ending) = Self.name(of: request.url, name: name)
        return claims.withLock { claims in
            if let name = claims.names[request.key] { return name }
            var candidate = stem + ending
            while claims.isTaken(candidate) {
                let number = claims.numbers[stem + ending, default: 1] + 1
                claims.numbers[stem + ending] = number
                candidate = "\(stem)-\(number)\(ending)"
            }
            claims.take(candidate, for: request.key)
            return candidate
        }
    }

    /// Writes the image's bytes under the name, with the ending of their format.
    func write(_ image: LoadedFile, as name: String) async throws(Failure) -> WrittenFile {
        let name = Self.fileName(name, format: image.header?.format)
        let dot = Self.dot(in: name) ?? name.endIndex
        let file = OutputFile(folder: path, stem: String(name[..<dot]), ending: String(name[dot...]))
        return try await file.write(image, existing, on: threads)
    }

    /// The last part of the address, or the film's name, without characters that file systems treat specially.
    static func name(of url: URL, name: String?) -> (stem: String, ending: String) {
        let isNamed = url.scheme?.lowercased() != "data" && url.lastPathComponent != "/"
        let last = name ?? (isNamed ? url.lastPathComponent : "")
        var safe = ""
        for scalar in last.unicodeScalars.drop(while: { $0 == "." }) {
            guard safe.utf8.count < longestStem else { break }
            safe.unicodeScalars.append(isUsable(scalar) ? scalar : "_")
        }
        guard name == nil, let dot = dot(in: safe) else { return (safe.isEmpty ? "image" : safe, "") }
        return (String(safe[..<dot]), String(safe[dot...]))
    }

    /// The name with the format's ending, unless it has it already.
    static func fileName(_ name: String, format: ImageFormat?) -> String {
        guard let format else { return name }
        let ending = dot(in: name).map { name[$0...].lowercased() }
        let fitting = format == .jpeg ? [".jpg", ".jpeg"] : ["." + format.fileExtension]
        return fitting.contains(ending ?? "") ? name : name + "." + format.fileExtension
    }

    /// The index of the ending's dot.
    static func dot(in name: String) -> String.Index? {
        name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? $0 : nil }
    }

    /// In bytes. File systems allow 255 for the whole name, with its ending and number.
    private static let longestStem = 200

    /// Whether a character is safe in a file name and in a listing.
    private static func isUsable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
        default: scalar != "/" && !scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}

extension OutputFolder.Claims {
    /// Whether the name with some ending may equal a claimed one: `a` and `a.png` are the same if `a` is a PNG.
    func isTaken(_ name: String) -> Bool {
        taken.contains(name) || stems.contains(name) || Self.stem(of: name).map(taken.contains) == true
    }

    mutating func take(_ name: String, for key: CacheKey) {
        names[key] = name
        taken.insert(name)
        if let stem = Self.stem(of: name) { stems.insert(stem) }
    }

    private static func stem(of name: String) -> String? {
        OutputFolder.dot(in: name).map { String(name[..<$0]) }
    }
}
