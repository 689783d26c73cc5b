import SystemSupport

/// What there is of a body whose transfer broke, or is under way, in a file that the next try goes on with, in a later
/// process too. The file of a body of 20 MiB, of which there are some bytes:
///
///     MQEP 1 141 20971520 0b6f34e2-0a2f-4a51-b8e3-2f1d8c3a9b10
///     200 1763714400 0 0 https://example.org/posters/large.png
///     ETag: "5f3-61"
///     Date: Fri, 21 Nov 2025 08:40:00 GMT
///     <the bytes that have come>
///
/// The first line has the length of all lines, that of the whole body (`-` if it is not known), and which start of the
/// system wrote it: a power cut may leave bytes in a file that were never written, so that parts from before are not used.
/// The lines after it are a `StoredResponse`. A process that writes or goes on with the file holds it locked; one that
/// dies leaves a beginning of the body, since bytes are only ever added. It is never taken for a whole body: that
/// only the transfer that ends in good order makes of it.
///
/// Proof for `@unchecked`: `count` is only touched by the `BodyBuffer` that owns the file, under its lock.
@safe final class PartialFile: @unchecked Sendable {
    /// The answer's first part.
    let response: StoredResponse
    /// The length of the whole body, if the answer told it.
    let total: Int?
    /// How many bytes are there.
    private(set) var count: Int
    private let headerLength: Int
    private let descriptor: Descriptor
    private let folder: PartialFolder
    private let name: String

    private init(
        response: StoredResponse, total: Int?, count: Int, headerLength: Int,
        descriptor: consuming Descriptor,
        folder: PartialFolder, name: String
    ) {
        self.response = response
        self.total = total
        self.count = count
        self.headerLength = headerLength
        self.descriptor = descriptor
        self.folder = folder
        self.name = name
    }

    // Not only with the descriptor: a program that is being started has a copy of that for a moment.
    deinit { folder.calls.unlock(descriptor) }

    /// Begins a file, in the place of an older one; nil if it cannot be, or if another process is at it.
    static func beginning(
        _ response: StoredResponse, total: Int?, name: String, in folder: PartialFolder
    ) -> PartialFile? {
        // What fails is counted: without the file the transfer goes well, and only a broken one cannot go on.
        let opened = folder.faults.noting { () throws(FileFault) in
            try folder.openLocked(name, isNew: true)
        }
        guard let descriptor = opened else { return nil }
        let metadata = response.encoded
        let first = " \(total.map(String.init) ?? "-") \(PartialFolder.bootIdentifier)\n"
        let header = Array(Self.firstLine(before: first, count: metadata.count).utf8) + metadata
        do throws(FileFault) {
            try folder.calls.shorten(descriptor, to: 0)
            try folder.calls.write(descriptor, header, at: 0)
        } catch {
            folder.faults.note(error)
            return nil
        }
        folder.faults.recovered()
        return PartialFile(
            response: response, total: total, count: 0, headerLength: header.count, descriptor: descriptor,
            folder: folder, name: name)
    }

    /// Opens what an earlier transfer left; nil if there is nothing that can be gone on with.
    static func opening(name: String, in folder: PartialFolder) -> PartialFile? {
        // What fails is counted: what cannot be opened and read is fetched anew.
        let opened = folder.faults.noting { () throws(FileFault) in
            try folder.openLocked(name, isNew: false)
        }
        guard let descriptor = opened else { return nil }
        let size: Int
        var bytes: [UInt8]
        do throws(FileFault) {
            size = try folder.calls.status(of: descriptor).size
            bytes = [UInt8](repeating: 0, count: min(size, 64 * 1024))
            guard try folder.calls.read(descriptor, into: &bytes) == bytes.count else { return nil }
        } catch {
            folder.faults.note(error)
            return nil
        }
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        let words = String(decoding: bytes[..<end], as: UTF8.self).split(separator: " ")
        guard words.count == 5, words[0] == "MQEP", words[1] == "1", let length = Int(words[2]),
            length > end, length < bytes.count,
            let total = words[3] == "-" ? .some(nil) : Int(words[3]).map(Optional.some),
            words[4] == PartialFolder.bootIdentifier, words[4] != PartialFolder.unknownBoot,
            let response = StoredResponse(decoding: Array(bytes[(end + 1)..<length]))
        else { return nil }
        let file = PartialFile(
            response: response, total: total, count: size - length, headerLength: length,
            descriptor: descriptor,
            folder: folder, name: name)
        // Where all has come and only the end was missed, the last byte is asked for again: a server has no answer to a
        // request for what follows the last.
        if let total, file.count >= total { return file.shorten(to: total - 1) ? file : nil }
        return file
    }

    /// `MQEP 1 ` and the length of the whole header, which counts its own digits.
    private static func firstLine(before rest: String, count: Int) -> String {
        let fixed = "MQEP 1 ".utf8.count + rest.utf8.count + count
        var length = fixed
        while String(length).utf8.count + fixed != length { length = String(length).utf8.count + fixed }
        return "MQEP 1 \(length)\(rest)"
    }

    /// Adds bytes at the end.
    func append(_ bytes: Span<UInt8>) throws(FileFault) {
        do {
            try folder.calls.write(descriptor, bytes, at: headerLength + count)
        } catch {
            folder.faults.note(error)
            throw error
        }
        count += bytes.count
    }

    /// Gives up the name: the part is of no use, or the whole is there. What stays is found by the next transfer, or swept.
    func remove() {
        folder.faults.noting { () throws(FileFault) in try folder.calls.remove(name, in: folder.descriptor) }
    }

    /// The body, once it is whole, and nil if it cannot be read. The name is given up first. A file that has one all the
    /// same is read and not mapped: another process could shorten it, and who then touched the memory would die.
    func body() -> (any ByteSource)? {
        remove()
        return folder.faults.noting { () throws(FileFault) -> (any ByteSource)? in
            if try folder.calls.status(of: descriptor).links == 0,
                let mapped = MappedFile(descriptor: descriptor.number, count: count, skipping: headerLength)
            {
                return mapped
            }
            var bytes = [UInt8](repeating: 0, count: count)
            guard try folder.calls.read(descriptor, into: &bytes, at: headerLength) == count else {
                return nil
            }
            return ByteArray(bytes)
        } ?? nil
    }

    private func shorten(to length: Int) -> Bool {
        guard length > 0 else { return false }
        do {
            try folder.calls.shorten(descriptor, to: headerLength + length)
        } catch {
            folder.faults.note(error)
            return false
        }
        count = length
        return true
    }
}
