internal import CSystem
package import ImageCodecs

/// The size of a terminal.
public struct TerminalSize: Sendable, Hashable {
    /// The size in columns and rows.
    public let cells: CellSize
    /// The height of a cell divided by its width; 2 if the terminal does not tell its pixels.
    public let cellAspect: Double
    /// The size of a cell in pixels, if the terminal tells.
    package let cell: ImageSize?

    /// The size of the terminal behind a descriptor; `nil` if it is unknown.
    public init?(of descriptor: Int32) {
        var numbers: [UInt16] = [0, 0, 0, 0]
        let result = unsafe numbers.withUnsafeMutableBufferPointer { buffer in
            unsafe buffer.baseAddress.map { unsafe csystem_terminal_size(descriptor, $0) } ?? -1
        }
        guard result == 0, numbers[0] > 0, numbers[1] > 0 else { return nil }
        cells = CellSize(columns: Int(numbers[0]), rows: Int(numbers[1]))
        // xterm includes the window's borders: divide and round down.
        let width = numbers[2] / numbers[0]
        let height = numbers[3] / numbers[1]
        cell = width > 0 && height > 0 ? ImageSize(width: Int(width), height: Int(height)) : nil
        let aspect = width > 0 ? Double(height) / Double(width) : 0
        cellAspect = (1...4).contains(aspect) ? aspect : 2
    }
}
