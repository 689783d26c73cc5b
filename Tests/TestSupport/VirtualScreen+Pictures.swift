import Foundation
public import ImageCodecs
import TerminalGraphics

/// The pictures that a terminal keeps for kitty's protocol.
public struct KittyPictures: Sendable {
    struct PlacementKey: Sendable, Hashable {
        let id: UInt32
        let number: UInt32
    }

    struct Placement: Sendable {
        let column: Int
        let row: Int
        /// The cells it covers.
        let size: CellSize
        /// The shown part of the picture: its origin and its size, in pixels.
        let start: (column: Int, row: Int)
        let pixels: ImageSize
    }

    /// The pictures by their numbers.
    public internal(set) var pictures: [UInt32: Bitmap] = [:]
    /// The number of transmitted pictures.
    public internal(set) var transmissions = 0
    /// The files that were transmitted more than once.
    public internal(set) var repeated = 0
    /// The most pixels that were stored at one time.
    public internal(set) var mostPixels = 0
    /// Deleted numbers that no picture had.
    public internal(set) var strangers: [UInt32] = []

    var placements: [PlacementKey: Placement] = [:]
    var virtual: [UInt32: CellSize] = [:]
    /// A transmission's keys, and its data so far.
    var incoming: (id: UInt32, payload: [UInt8])?
    var files: Set<[UInt8]> = []

    /// Removes what is shown and its data, as `CSI 2 J` does.
    mutating func erase() {
        for key in placements.keys { pictures[key.id] = nil }
        placements = [:]
    }
}

extension VirtualScreen {
    /// The pixels over a cell, as large as the cell; nil where there are none.
    public func tile(column: Int, row: Int) -> Bitmap? {
        guard let cellPixels else { return nil }
        for (key, placement) in kitty.placements {
            let (across, down) = (column - placement.column, row - placement.row)
            guard (0..<placement.size.columns).contains(across), (0..<placement.size.rows).contains(down),
                let picture = kitty.pictures[key.id]
            else { continue }
            return picture.tile(
                placement.start.column + across * cellPixels.width,
                placement.start.row + down * cellPixels.height, cellPixels)
        }
        let cell = cell(column: column, row: row)
        if let tile = placeholderTile(of: cell, cellPixels) { return tile }
        return cell.tile
    }

    private func placeholderTile(of cell: Cell, _ cellPixels: ImageSize) -> Bitmap? {
        guard cell.text.unicodeScalars.first?.value == 0x10EEEE else { return nil }
        for (id, size) in kitty.virtual {
            guard let picture = kitty.pictures[id] else { continue }
            let grid = KittyPlaceholders.cells(of: id, size: size)
            for position in grid.positions
            where grid.text(at: position) == cell.text && grid.style(at: position) == cell.style {
                return picture.tile(
                    position.column * cellPixels.width, position.row * cellPixels.height, cellPixels)
            }
        }
        return nil
    }

    mutating func takePictures(in content: [UInt8], after introducer: UInt8) {
        let text = String(decoding: content, as: UTF8.self)
        switch introducer {
        case UInt8(ascii: "P") where text.hasPrefix("tmux;"):
            let inner = text.dropFirst(5).replacingOccurrences(of: "\u{1B}\u{1B}", with: "\u{1B}")
            let outer = parser
            parser = ParserState()
            feed(inner.utf8)
            parser = outer
        case UInt8(ascii: "P"):
            guard let drawing = SixelScreen([0x1B, introducer] + content + Array("\u{1B}\\".utf8)) else {
                return unknown.append("DCS \(text.prefix(20))")
            }
            paint(drawing.bitmap)
        case UInt8(ascii: "]") where text.hasPrefix("1337;File="): paintFile(text)
        case UInt8(ascii: "_") where text.hasPrefix("G"): runKitty(text.dropFirst())
        default: unknown.append("string \(text.prefix(20))")
        }
    }

    // MARK: Sixels and iTerm2's

    private mutating func paint(_ bitmap: Bitmap) {
        guard let cellPixels else { return }
        paintings += 1
        let columns = (bitmap.width + cellPixels.width - 1) / cellPixels.width
        let rows = (bitmap.height + cellPixels.height - 1) / cellPixels.height
        if cursor.row + rows >= size.rows || cursor.column + columns > size.columns {
            unknown.append("a picture at the edge, \(columns) x \(rows) at \(cursor)")
        }
        for row in 0..<rows where cursor.row + row < size.rows {
            for column in 0..<columns where cursor.column + column < size.columns {
                cells[(cursor.row + row) * size.columns + cursor.column + column].tile = bitmap.tile(
                    column * cellPixels.width, row * cellPixels.height, cellPixels)
            }
        }
        move(to: 0, cursor.row + rows)
    }

    private mutating func paintFile(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1)
        let file = Data(base64Encoded: String(parts.last ?? "")).map { [UInt8]($0) } ?? []
        let keys = Self.keys(parts[0].dropFirst("1337;File=".count), separator: ";")
        guard let cellPixels, let bitmap = try? ImageDecoders.standard.decode(file),
            keys["width"] == "\(bitmap.width / cellPixels.width)",
            keys["height"] == "\(bitmap.height / cellPixels.height)", keys["size"] == "\(file.count)"
        else { return unknown.append("OSC \(parts[0])") }
        paint(bitmap)
    }

    // MARK: Kitty's

    private static func keys(_ text: some StringProtocol, separator: Character) -> [String: String] {
        let pairs = text.split(separator: separator).map { $0.split(separator: "=", maxSplits: 1) }
        return Dictionary(pairs.map { (String($0[0]), String($0.last ?? "")) }) { $1 }
    }

    private mutating func runKitty(_ command: Substring) {
        let parts = command.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        let keys = Self.keys(parts[0], separator: ",")
        func number(_ key: String) -> Int { keys[key].flatMap { Int($0) } ?? 0 }
        let id = UInt32(number("i"))
        switch (keys["a"], keys["d"]) {
        case ("t", _), (nil, _):
            if keys["a"] == "t" { kitty.incoming = (id, []) }
            kitty.incoming?.payload += Array((parts.last ?? "").utf8)
            if keys["m"] != "1" { endTransmission() }
        case ("p", _) where keys["U"] == "1":
            kitty.virtual[id] = CellSize(columns: number("c"), rows: number("r"))
        case ("p", _):
            guard kitty.pictures[id] != nil, keys["C"] == "1" else {
                return unknown.append("kitty \(parts[0])")
            }
            kitty.placements[.init(id: id, number: UInt32(number("p")))] = .init(
                column: cursor.column, row: cursor.row,
                size: CellSize(columns: number("c"), rows: number("r")),
                start: (number("x"), number("y")), pixels: ImageSize(width: number("w"), height: number("h")))
        case ("d", "i"): kitty.placements[.init(id: id, number: UInt32(number("p")))] = nil
        case ("d", "I"):
            if kitty.pictures.removeValue(forKey: id) == nil { kitty.strangers.append(id) }
            kitty.virtual[id] = nil
            kitty.placements = kitty.placements.filter { $0.key.id != id }
        default: unknown.append("kitty \(parts[0])")
        }
    }

    private mutating func endTransmission() {
        guard let (id, payload) = kitty.incoming, let file = Data(base64Encoded: Data(payload)),
            let bitmap = try? ImageDecoders.standard.decode([UInt8](file))
        else { return unknown.append("kitty's file") }
        kitty.incoming = nil
        kitty.transmissions += 1
        if !kitty.files.insert(payload).inserted { kitty.repeated += 1 }
        kitty.pictures[id] = bitmap
        let pixels = kitty.pictures.values.reduce(0) { $0 + $1.width * $1.height }
        kitty.mostPixels = max(kitty.mostPixels, pixels)
    }
}

extension CellGrid {
    fileprivate var positions: [CellPosition] {
        (0..<size.rows).flatMap { row in
            (0..<size.columns).map { CellPosition(column: $0, row: row) }
        }
    }
}

extension Bitmap {
    /// A part of the bitmap, transparent outside its bounds.
    public func tile(_ column: Int, _ row: Int, _ size: ImageSize) -> Bitmap {
        var tile: [UInt8] = []
        for line in row..<row + size.height {
            for place in column..<column + size.width {
                let start = (line * width + place) * 4
                tile += line < height && place < width ? Array(pixels[start..<start + 4]) : [0, 0, 0, 0]
            }
        }
        return Bitmap(width: size.width, height: size.height, pixels: tile)
    }
}
