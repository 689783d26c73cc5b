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
            return word(bytes, in: FileManager.default.currentDirectoryPath)
        }
    }

    /// - Parameter folder: the working folder, which a relative path is in.
    static func word(_ bytes: [UInt8], in folder: String) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        // An option with such a value is an error, which names the option.
        if bytes.first == UInt8(ascii: "-") { return String(decoding: bytes, as: UTF8.self) }
        let path = bytes.first == UInt8(ascii: "/") ? bytes : Array((folder + "/").utf8) + bytes
        let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return "file://" + parts.map { PercentEncoding.encoded(Array($0)) }.joined(separator: "/")
    }
}
