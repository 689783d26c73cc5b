import FoundationEssentials
import Glibc
import HTTPSemantics

/// The words of the command line. A word that is not UTF-8 is the path of a file, and becomes its `file:` URL, which
/// keeps all bytes; Swift's own list of arguments replaces the wrong ones.
enum CommandLineWords {
    /// The words after the program's name.
    static var all: [String] {
        CommandLine.arguments.indices.dropFirst().map { index in
            guard let argument = unsafe CommandLine.unsafeArgv[index] else { return "" }
            let bytes = unsafe [UInt8](
                UnsafeBufferPointer(
                    start: UnsafeRawPointer(argument).assumingMemoryBound(to: UInt8.self),
                    count: strlen(argument)))
            return word(bytes, in: folder)
        }
    }

    /// - Parameter folder: the working folder, which a relative path is in.
    static func word(_ bytes: [UInt8], in folder: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        // An option with such a value is an error, which names the option.
        if bytes.first == UInt8(ascii: "-") { return String(decoding: bytes, as: UTF8.self) }
        return address(ofPath: bytes, in: folder)
    }

    /// The `file:` URL of the file at a path, also in a working folder whose name is not UTF-8.
    static func address(ofFile path: String) -> String {
        let folder = folder
        if path.hasPrefix("/") || String(validating: folder, as: UTF8.self) != nil {
            return URL(filePath: path).absoluteString
        }
        return address(ofPath: Array((path.hasPrefix("./") ? path.dropFirst(2) : path[...]).utf8), in: folder)
    }

    private static func address(ofPath path: [UInt8], in folder: [UInt8]) -> String {
        let slash = UInt8(ascii: "/")
        let whole = path.first == slash ? path : folder + [slash] + path
        let parts = whole.split(separator: slash, omittingEmptySubsequences: false)
        return "file://" + parts.map { PercentEncoding.encoded(Array($0)) }.joined(separator: "/")
    }

    /// The path of a word that stands for bytes that are not UTF-8, for people; nil for any other word.
    static func pathInBytes(_ word: String) -> String? {
        guard word.hasPrefix("file:///"), let bytes = PercentEncoding.decoded(word.dropFirst(7).utf8),
            String(validating: bytes, as: UTF8.self) == nil
        else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Refuses a word that only bytes could carry: it would name another file.
    static func requireUTF8(_ word: String, of option: String? = nil) throws(UsageError) {
        guard let path = pathInBytes(word) else { return }
        throw UsageError((option.map { "--\($0): " } ?? "") + "\(path) is not UTF-8; choose another name")
    }

    /// The working folder in bytes. Foundation replaces the wrong ones.
    private static var folder: [UInt8] {
        var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let isFound = unsafe path.withUnsafeMutableBytes { buffer in
            unsafe getcwd(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), buffer.count) != nil
        }
        return isFound ? Array(path.prefix { $0 != 0 }) : [UInt8(ascii: ".")]
    }
}
