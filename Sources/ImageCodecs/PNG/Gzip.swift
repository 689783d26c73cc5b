/// Decompresses a gzip file of one member (RFC 1952), as of `Content-Encoding: gzip`:
///
///     1F 8B 08          magic, DEFLATE
///     08                flags: here a name follows
///     00 00 00 00 00 03 time, extra flags, system
///     61 00             the name, up to a 0
///     ...               blocks of DEFLATE
///     crc, length       CRC-32 and length of the output, 32 bits each, lowest byte first
package enum Gzip {
    /// Why there is no output.
    package enum Fault: Error, CustomStringConvertible {
        case damaged
        /// The output would have more bytes than the limit.
        case tooLarge

        package var description: String {
            switch self {
            case .damaged: "its gzip coding is damaged"
            case .tooLarge: "it unpacks to more bytes than allowed"
            }
        }
    }

    /// The whole output. Its length comes first from the file's end, so a bomb is refused before it is unpacked.
    package static func decompress(_ file: Span<UInt8>, limit: Int) throws(Fault) -> [UInt8] {
        guard let start = headerLength(of: file), let check = file.littleEndian32(at: file.count - 8),
            let size = file.littleEndian32(at: file.count - 4)
        else { throw .damaged }
        guard size <= limit else { throw .tooLarge }
        guard let output = Inflate.decompressBlocks(file, from: start, outputSize: size),
            CRC32.checksum(of: output.span) == UInt32(check)
        else { throw .damaged }
        return output
    }

    /// The length of the header (RFC 1952 section 2.3); nil if it is not one.
    private static func headerLength(of file: Span<UInt8>) -> Int? {
        guard file.count >= 18, file.hasBytes([0x1F, 0x8B, 8], at: 0) else { return nil }
        let flags = file[3]
        var offset = 10
        if flags & 4 != 0 { offset += 2 + (file.littleEndian16(at: 10) ?? 0) }
        // The name and the comment end with 0.
        for flag in [8, 16] as [UInt8] where flags & flag != 0 {
            while offset < file.count, file[offset] != 0 { offset += 1 }
            offset += 1
        }
        if flags & 2 != 0 { offset += 2 }
        return offset + 8 <= file.count ? offset : nil
    }
}
