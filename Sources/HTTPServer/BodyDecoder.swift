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
/// reference, so a body that never becomes whole leaves nothing behind. One thread at a time may use it.
final class BodySpool: Sendable {
    /// The most bytes of one body in memory.
    static let memoryLimit = 64 << 10

    private struct State: Sendable {
        var bytes: [UInt8] = []
        var file: UnnamedFile?
    }

    private let state = Lock(State())
    private let budget: SharedBudget
    private let folder: String
    private let calls: FileCalls

    /// - Parameters:
    ///   - budget: the memory that all bodies share.
    ///   - folder: the folder for longer bodies.
    init(budget: SharedBudget, folder: String, calls: FileCalls = FileCalls()) {
        self.budget = budget
        self.folder = folder
        self.calls = calls
    }

    deinit { budget.giveBack(state.withLock { $0.bytes.count }) }

    /// Adds a piece, in memory. Returns false if the bodies have no memory left.
    func append(_ piece: ArraySlice<UInt8>) -> Bool {
        guard budget.take(piece.count) else { return false }
        state.withLock { $0.bytes += piece }
        return true
    }

    /// Whether the bytes in memory must be stored before more come.
    var isFull: Bool {
        state.withLock { state in
            state.bytes.count > (state.file == nil && !budget.isScarce ? Self.memoryLimit : 0)
        }
    }

    /// Moves the bytes in memory into the file. Blocks.
    func store() throws(FileFault) {
        let (bytes, known) = state.withLock { ($0.bytes, $0.file) }
        // Not `??`: Swift 6.3 crashes on a function with typed throws in an autoclosure.
        let file = if let known { known } else { try UnnamedFile(in: folder, calls: calls) }
        // As long as the client sends, the file is open.
        guard file.descriptor.number < DescriptorPlaces.ofProcess.files else {
            throw FileFault(kind: .open, name: folder, code: EMFILE)
        }
        try file.append(bytes.span)
        state.withLock { $0 = State(file: file) }
        budget.giveBack(bytes.count)
    }

    /// The whole body. Its memory no longer counts against the budget; the request owns it.
    func finish() -> RequestBody {
        let (bytes, file) = state.withLock { state in
            defer { state = State() }
            return (state.bytes, state.file)
        }
        budget.giveBack(bytes.count)
        if let file { return .file(file) }
        return bytes.isEmpty ? .none : .bytes(bytes)
    }
}

/// A number of bytes or of places that all connections share. Without such a limit, many slow clients could fill the
/// memory.
final class SharedBudget: Sendable {
    private let limit: Int
    private let free: Lock<Int>

    init(limit: Int) {
        self.limit = limit
        free = Lock(limit)
    }

    /// Whether a quarter is taken.
    var isScarce: Bool { free.withLock { $0 < limit / 4 * 3 } }

    /// Takes this much, if it is free.
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
