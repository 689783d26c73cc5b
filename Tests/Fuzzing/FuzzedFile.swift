/// The invariant for any bytes: no trap, and either a bitmap of the header's size or an error with a
/// description.
struct FuzzedFile {
    private let bytes: [UInt8]
    /// Small, so that each input is fast: the speed of large images is not under test.
    private let limits = DecodingLimits(inputBytes: 1 << 20, side: 4096, pixels: 1 << 20, scans: 20)

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func check(fitting targets: [ImageSize?]) {
        checkHeader()
        checkStripping()
        for target in targets {
            do throws(ImageDecodingError) {
                let bitmap = try ImageDecoders.standard.decode(bytes, fitting: target, limits: limits)
                let size = try ImageHeader(parsing: bytes).size
                precondition(
                    size.map { target.map($0.fitted(into:)) ?? $0 } == bitmap.size, "size of the header")
                guard let target else { continue }
                // A bitmap that fills a size is at most that large. Its crop depends on the file.
                let anchors = ImageContentMode.Anchor.allCases
                let sizing = ImageSizing(target, mode: .fill(anchors[bytes.count % anchors.count]))
                let filled = try ImageDecoders.standard.decode(bytes, sizing: sizing, limits: limits)
                precondition(
                    filled.width <= target.width && filled.height <= target.height, "size to fill")
                precondition((filled.damage == nil) == (bitmap.damage == nil), "damage")
            } catch {
                precondition(!error.description.isEmpty)
            }
        }
    }

    /// A whole file can be stripped, has the same pixels then, and nothing is left to strip. A BMP is stored as it is.
    private func checkStripping() {
        // Ignored: what cannot be decoded is not uploaded. Stripping it must only not trap.
        let stripped = try? ImageMetadata.strip(bytes)
        guard let bitmap = try? ImageDecoders.standard.decode(bytes, limits: limits), bitmap.damage == nil
        else { return }
        guard let stripped, let after = try? ImageDecoders.standard.decode(stripped, limits: limits),
            let again = try? ImageMetadata.strip(stripped)
        else { preconditionFailure("cannot be stripped") }
        precondition(after == bitmap, "pixels")
        precondition(again == stripped, "stripped twice")
    }

    func checkHeader() {
        do throws(ImageDecodingError) {
            let header = try ImageHeader(parsing: bytes)
            precondition(header.size.map { $0.width > 0 && $0.height > 0 } ?? true, "sides of nought")
            try ImageHeader.checkComplete(bytes)
        } catch {
            precondition(!error.description.isEmpty)
        }
    }
}
