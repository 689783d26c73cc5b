/// A value of the shared store: the file of the disk tier, and at its end a seal. For the key `http://a/b`, the metadata `m`
/// and the body `hello`:
///
///     offset  bytes                        what
///      0      89 4d 51 45 ... 68 65 6c 6f  the file of 56 bytes, see `EntryHeader`
///     56      32 bytes                     HMAC-SHA256 (RFC 2104) of the bytes before
///
/// The seal covers the key, because the file contains it: another key's value is refused, though its seal is right.
enum SealedEntry {
    static let sealLength = SHA256.Digest.byteCount

    /// The sealed value of an entry. Hashes all bytes twice: do not call it on the cooperative pool.
    static func seal(_ entry: StagingArea.Entry, for key: CacheKey, by secret: [UInt8]) -> [UInt8] {
        let metadata = entry.metadata
        let text = key.text.utf8Span.span
        var bytes: [UInt8] = []
        entry.body.withBytes { body in
            let header = EntryHeader.bytes(
                key: text, metadata: metadata.span, body: body, expiry: entry.expiry)
            bytes.reserveCapacity(
                header.count + text.count + metadata.count + body.count + sealLength)
            bytes += [UInt8](copying: header.span)
            bytes += [UInt8](copying: text)
            bytes += metadata
            bytes += [UInt8](copying: body)
        }
        return bytes + SHA256.authenticate(bytes.span, with: secret.span).bytes
    }

    /// The entry of a sealed value; nil if it is malformed, has another key, or was sealed by none of the secrets.
    static func open(_ bytes: [UInt8], for key: CacheKey, by secrets: [[UInt8]]) -> EntryFile? {
        guard bytes.count >= sealLength else { return nil }
        let file = bytes.span.extracting(droppingLast: sealLength)
        let seal = bytes.span.extracting(last: sealLength)
        var isSealed = false
        for secret in secrets {
            let expected = SHA256.authenticate(file, with: secret.span).bytes
            // Compares all bytes: the time must not show where the first difference is.
            var difference: UInt8 = 0
            for index in 0..<sealLength { difference |= expected[index] ^ seal[index] }
            isSealed = isSealed || difference == 0
        }
        guard isSealed, case .entry(let entry) = EntryFile.parse(file), entry.hasKey(key.text) else {
            return nil
        }
        return entry
    }
}
