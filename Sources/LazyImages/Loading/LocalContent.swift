import CMarqueeSystem
package import FoundationEssentials
import HTTPSemantics
package import SystemSupport

/// Reads `file:` and `data:` URLs, without a transport. Their content is not stored in the disk tier.
package enum LocalContent {
    /// The content of `url`, at most `limit` bytes. Blocks on the file: not for the cooperative pool.
    package static func read(_ url: URL, limit: Int) throws(ImageLoadingError) -> [UInt8] {
        let bytes =
            url.scheme?.lowercased() == "data" ? try data(url, limit: limit) : try file(url, limit: limit)
        if bytes.isEmpty { throw .empty(url: url.displayText) }
        return bytes
    }

    /// Only a regular file: a pipe or a device may never end.
    private static func file(_ url: URL, limit: Int) throws(ImageLoadingError) -> [UInt8] {
        guard url.host()?.isEmpty ?? true || url.host() == "localhost" else {
            throw .invalidURL(text: url.displayText, reason: "a file URL must not name another machine")
        }
        let name = name(of: url)
        let path = String(decoding: name, as: UTF8.self)
        let number = unsafe csystem_open(Self.terminated(name), O_RDONLY | O_NONBLOCK, 0)
        guard number >= 0 else {
            if let shortage = ResourceShortage(code: errno) { throw .init(shortage, url: url.displayText) }
            throw .unreadableFile(path: path, reason: SystemError.text(errno, ofPath: name))
        }
        let file = Descriptor(number)
        let calls = FileCalls()
        let status: FileStatus
        do throws(FileFault) {
            status = try calls.status(of: file)
        } catch {
            throw .unreadableFile(path: path, reason: SystemError.text(error.code))
        }
        guard status.isFile else {
            // Folders with other names are read as such, where folders are.
            let isInBytes = String(validating: name, as: UTF8.self) == nil
            throw .unreadableFile(
                path: path,
                reason: !status.isFolder
                    ? "it is not a regular file"
                    : isInBytes ? "it is a folder whose name is not UTF-8" : "it is a folder")
        }
        guard status.size <= limit else { throw .tooLarge(url: url.displayText, limit: limit) }
        // Filling an array of capacity 0 would write its count, 0, to the storage that all empty arrays share, while
        // other threads may read it: a race to the thread sanitizer.
        guard status.size > 0 else { throw .empty(url: url.displayText) }
        var fault: FileFault?
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: status.size) { buffer, count in
            do throws(FileFault) {
                count = try unsafe calls.read(file, into: UnsafeMutableRawBufferPointer(buffer))
            } catch { fault = error }
        }
        if let fault { throw .unreadableFile(path: path, reason: SystemError.text(fault.code)) }
        return bytes
    }

    /// Whether this process may read the file of a `file:` URL. Its content may still be no picture.
    package static func isReadable(_ url: URL) -> Bool { unsafe access(terminated(name(of: url)), R_OK) == 0 }

    /// The number of the file of a `file:` URL; nil for other URLs, and if there is none.
    package static func fileNumber(of url: URL) -> FileNumber? {
        url.isFileURL ? FileNumber(path: name(of: url)) : nil
    }

    /// The path of a `file:` URL. A name is bytes, which need not be UTF-8.
    private static func name(of url: URL) -> [UInt8] { percentDecoded(url.path(percentEncoded: true)[...]) }

    private static func terminated(_ name: [UInt8]) -> [CChar] { (name + [0]).map { CChar(bitPattern: $0) } }

    /// `data:[type][;base64],content` (RFC 2397).
    private static func data(_ url: URL, limit: Int) throws(ImageLoadingError) -> [UInt8] {
        let text = url.absoluteString.prefix { $0 != "#" }
        guard let comma = text.firstIndex(of: ","), let colon = text.firstIndex(of: ":"), colon < comma else {
            throw .invalidURL(text: url.displayText, reason: "a data URL needs a comma before its content")
        }
        // Encoded content is at most three times as long as its bytes. Divides the length, since multiplying the limit
        // could overflow.
        guard (text.utf8.count - 1024) / 3 <= limit else {
            throw .tooLarge(url: url.displayText, limit: limit)
        }
        var content = percentDecoded(text[text.index(after: comma)...])
        // Blanks may stand around the word (Fetch standard, "data: URL processor").
        let type = text[colon..<comma].lowercased().replacing("%20", with: "").filter { $0 != " " }
        if type.hasSuffix(";base64") {
            guard let decoded = Data(base64Encoded: Data(content), options: .ignoreUnknownCharacters) else {
                throw .invalidURL(text: url.displayText, reason: "its content is not base64")
            }
            content = [UInt8](decoded)
        }
        guard content.count <= limit else { throw .tooLarge(url: url.displayText, limit: limit) }
        return content
    }

    private static func percentDecoded(_ text: Substring) -> [UInt8] {
        PercentEncoding.decoded(text.utf8, keepsWrongPercent: true) ?? []
    }
}
