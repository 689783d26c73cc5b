import Glibc
import HTTPSemantics
import SystemSupport

/// Decodes the body of one request, by its length or by its chunks (RFC 9112 sections 6.2 and 7.1).
///
///     4\r\n
///     film\r\n
///     0\r\n
///     \r\n
struct BodyDecoder {
    enum Step: Equatable {
        /// The next bytes of the body.
        case bytes(ArraySlice<UInt8>)
        /// The body is whole.
        case end
        /// The buffer is empty: more bytes must be received first.
        case needsMore
    }

    enum Failure: Error, Hashable {
        /// The chunks break the grammar, so the end of the body is unknown.
        case malformed(String)
        /// The body is longer than `limit` bytes.
        case tooLong
    }

    private enum State {
        /// So many bytes of the body, or of one chunk, are left.
        case bytes(Int, isChunk: Bool)
        case chunkSize
        case chunkEnd
        case trailers
        case ended
    }

    /// The most bytes of a line: a chunk's size with its extensions, or a trailer field.
    private static let lineLimit = 4096
    /// The most trailer fields. Their content is not used.
    private static let trailerLimit = 64

    private var state: State
    private var trailers = 0
    /// The bytes that the body may still have.
    private var allowance: Int

    /// - Parameters:
    ///   - framing: how the body's length is given.
    ///   - limit: the most bytes the body may have.
    init(_ framing: RequestHead.BodyFraming, limit: Int) throws(Failure) {
        allowance = limit
        switch framing {
        case .none: state = .ended
        case .length(let length):
            guard length <= limit else { throw .tooLong }
            state = length == 0 ? .ended : .bytes(length, isChunk: false)
        case .chunked: state = .chunkSize
        }
    }

    mutating func next(from input: inout InputBuffer) throws(Failure) -> Step {
        while true {
            switch state {
            case .ended: return .end
            case .bytes(let left, let isChunk):
                guard !input.isEmpty else { return .needsMore }
                let bytes = input.take(atMost: left)
                if bytes.count < left {
                    state = .bytes(left - bytes.count, isChunk: isChunk)
                } else {
                    state = isChunk ? .chunkEnd : .ended
                }
                return .bytes(bytes)
            case .chunkSize:
                guard let line = try Self.line(from: &input) else { return .needsMore }
                let size = try Self.chunkSize(line)
                guard size <= allowance else { throw .tooLong }
                allowance -= size
                state = size == 0 ? .trailers : .bytes(size, isChunk: true)
            case .chunkEnd:
                guard let line = try Self.line(from: &input) else { return .needsMore }
                guard line.isEmpty else { throw .malformed("a chunk is longer than its size says") }
                state = .chunkSize
            case .trailers:
                guard let line = try Self.line(from: &input) else { return .needsMore }
                if line.isEmpty {
                    state = .ended
                } else {
                    trailers += 1
                    guard trailers <= Self.trailerLimit else { throw .malformed("too many trailer fields") }
                    guard !line.contains(UInt8(ascii: "\r")) else {
                        throw .malformed("a carriage return in a trailer field")
                    }
                }
            }
        }
    }

    /// The next line without its end. Only CR LF ends a line. Some servers also accept a line feed alone; they would
    /// then see different requests than this one.
    private static func line(from input: inout InputBuffer) throws(Failure) -> ArraySlice<UInt8>? {
        if let line = input.takeLine() {
            guard line.count <= lineLimit else { throw .malformed("a line of a chunk is too long") }
            guard line.last == UInt8(ascii: "\r") else {
                throw .malformed("a line of a chunk ends without CR")
            }
            return line.dropLast()
        }
        guard input.count <= lineLimit else { throw .malformed("a line of a chunk is too long") }
        return nil
    }

    /// `1a3;name=value`: a hexadecimal size, then extensions, which are ignored. White space before an extension is
    /// against the grammar, but recipients must accept it (RFC 9112 section 7.1.1).
    private static func chunkSize(_ line: ArraySlice<UInt8>) throws(Failure) -> Int {
        var size = 0
        var rest = line
        var digits = 0
        while let digit = rest.first?.hexadecimalValue {
            digits += 1
            // No body needs more digits, and the sum would overflow.
            guard digits <= 15 else { throw .malformed("bad size of a chunk") }
            size = size << 4 | Int(digit)
            rest = rest.dropFirst()
        }
        rest = rest.drop(while: \.isBlank)
        guard digits > 0, rest.isEmpty || rest.first == UInt8(ascii: ";"),
            rest.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
        else { throw .malformed("bad size of a chunk") }
        return size
    }
}

/// Collects the body of one request: in memory while it is short, then in an unnamed file. Both are freed with the last
/// reference, so a body that never becomes whole leaves nothing behind. Not safe for concurrent use.
final class BodySpool {
    /// The most bytes of one body in memory.
    static let memoryLimit = 64 << 10

    private var bytes: [UInt8] = []
    private var file: UnnamedFile?
    private let budget: BodyMemory
    private let folder: String

    /// - Parameters:
    ///   - budget: the memory that all bodies share.
    ///   - folder: the folder for longer bodies.
    init(budget: BodyMemory, folder: String) {
        self.budget = budget
        self.folder = folder
    }

    deinit { budget.giveBack(bytes.count) }

    func append(_ piece: ArraySlice<UInt8>) throws(FileFault) {
        if file == nil {
            if bytes.count + piece.count <= Self.memoryLimit, budget.take(piece.count) {
                bytes += piece
                return
            }
            let file = try UnnamedFile(in: folder)
            // As long as the client sends, the file is open.
            guard file.descriptor.number < DescriptorPlaces.ofProcess.files else {
                throw FileFault(kind: .open, name: folder, code: EMFILE)
            }
            let held = bytes
            try file.append(held.span)
            budget.giveBack(bytes.count)
            bytes = []
            self.file = file
        }
        try file?.append(piece.span)
    }

    /// The whole body. Its memory no longer counts against the budget; the request owns it.
    func finish() -> RequestBody {
        if let file { return .file(file) }
        budget.giveBack(bytes.count)
        defer { bytes = [] }
        return bytes.isEmpty ? .none : .bytes(bytes)
    }
}

/// The memory that all bodies being received share, in bytes. Without this limit, many slow clients could fill the
/// memory.
final class BodyMemory: Sendable {
    private let free: Lock<Int>

    init(limit: Int) { free = Lock(limit) }

    /// Takes this many bytes, if they are free.
    func take(_ count: Int) -> Bool {
        free.withLock { free in
            guard count <= free else { return false }
            free -= count
            return true
        }
    }

    func giveBack(_ count: Int) {
        if count > 0 { free.withLock { $0 += count } }
    }
}
