package import SystemSupport

/// The whole body of a request: a short one in memory, a longer one in an unnamed file, which vanishes with its last
/// reference.
package enum RequestBody: Sendable {
    case none
    case bytes([UInt8])
    case file(UnnamedFile)

    /// In bytes.
    package var count: Int {
        switch self {
        case .none: 0
        case .bytes(let bytes): bytes.count
        case .file(let file): file.count
        }
    }

    /// All of it in memory. Blocks.
    package func bytes() throws(FileFault) -> [UInt8] {
        switch self {
        case .none: []
        case .bytes(let bytes): bytes
        case .file(let file): try file.contents()
        }
    }
}
