import FoundationEssentials
import Glibc
import TestSupport

/// Netpbm's programs, as an independent decoder.
enum Netpbm {
    /// The pixels of a PNG, by libpng.
    static func pixels(ofPNG file: String, in folder: TemporaryFolder) throws -> [UInt8]? {
        let output = folder.file("a.ppm")
        guard unsafe system("pngtopnm \(file) >\(output) 2>/dev/null") == 0 else { return nil }
        return [UInt8](try Data(contentsOf: URL(filePath: output)))
    }
}
