extension SHA256 {
    /// HMAC-SHA256 (RFC 2104) of a message: it cannot be made without the key.
    package static func authenticate(_ message: Span<UInt8>, with key: Span<UInt8>) -> Digest {
        var block = [UInt8](repeating: 0, count: blockSize)
        if key.count > blockSize {
            // Section 2: a key longer than a block is hashed first.
            block.replaceSubrange(0..<Digest.byteCount, with: hash(of: key).bytes)
        } else {
            for index in key.indices { block[index] = key[index] }
        }
        let innerKey = block.map { $0 ^ 0x36 }
        var inner = SHA256()
        inner.update(innerKey.span)
        inner.update(message)
        let innerDigest = inner.finish().bytes
        let outerKey = block.map { $0 ^ 0x5C }
        var outer = SHA256()
        outer.update(outerKey.span)
        outer.update(innerDigest.span)
        return outer.finish()
    }
}

extension SHA256.Digest {
    /// The 32 bytes, most significant first.
    package var bytes: [UInt8] {
        [first, second, third, fourth].flatMap { word in
            stride(from: UInt64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }
}
