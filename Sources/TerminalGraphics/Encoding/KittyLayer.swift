internal import ImageCodecs

/// Pictures that a terminal keeps under numbers and shows where it is told: kitty's protocol. Each is sent once; to scroll, its
/// placement moves. It lies over the cells, which are blank below it: blocks would cost thousands of bytes for each line
/// scrolled.
///
/// By placeholders a picture's cells are text, which tmux moves and cuts like other text, and the picture is only sent.
package struct KittyLayer: PictureLayer {
    /// The most bytes, as RGBA, that the terminal is to keep of our pictures. Kitty gives all programs of a window 320 MB, and
    /// throws away what it likes beyond that; others have less. It is enough for 400 posters of 20 x 15 cells of 8 x 16.
    package static let memoryLimit = 64 << 20
    /// The most pictures: their numbers have to fit into what is written when the program dies.
    package static let mostPictures = 512

    /// A picture that the terminal has. Its bytes are not kept here.
    private struct Sent {
        let id: UInt32
        /// What it takes in the terminal's memory.
        let cost: Int
        /// The frame that showed it last.
        var lastFrame: Int
        /// Its placeholders, if it is shown by those.
        let cells: CellGrid?
    }

    /// A placement by its picture's number and its own.
    private struct PlacementKey: Hashable {
        let id: UInt32
        let number: UInt32
    }

    private let usesPlaceholders: Bool
    private let isInTmux: Bool
    private let memoryLimit: Int
    /// By the pictures' numbers in this process.
    private var sent: [UInt64: Sent] = [:]
    /// What `sent` takes in the terminal's memory.
    private var memory = 0
    private var placed: [PlacementKey: PicturePlacement] = [:]
    /// Numbers are taken one after another from a place of chance on, so that they differ from other programs' and earlier runs'.
    private var count = Int.random(in: 0..<KittyPlaceholders.numbers)
    private var frame = 0
    package private(set) var isUnfinished = false
    package private(set) var farewell = end

    package init(placeholders: Bool, inTmux: Bool, memoryLimit: Int = memoryLimit) {
        usesPlaceholders = placeholders
        isInTmux = inTmux
        self.memoryLimit = memoryLimit
    }

    package mutating func change(_ cells: inout CellGrid, over shown: CellGrid?, isMoving: Bool)
        -> PictureChange
    {
        let wanted = cells.pictures
        cells.pictures = []
        var change = PictureChange()
        guard shown != nil else {
            forget(&change)
            isUnfinished = !wanted.isEmpty
            return change
        }
        frame += 1
        for placement in wanted { sent[placement.picture.number]?.lastFrame = frame }
        isUnfinished = false
        var next: [PlacementKey: PicturePlacement] = [:]
        let firstCount = count
        for placement in wanted {
            guard let picture = send(placement.picture, &change) else { continue }
            if let placeholders = picture.cells {
                cells.place(placeholders, at: placement.origin, clip: placement.visible)
                continue
            }
            cells.fill(placement.visible, style: CellStyle())
            var key = PlacementKey(id: picture.id, number: 1)
            while next[key] != nil { key = PlacementKey(id: key.id, number: key.number + 1) }
            next[key] = placement
        }
        // What is new stands before what was there goes.
        for (key, placement) in next where placed[key] != placement {
            change.after += PictureChange.move(to: placement.visible.origin)
            change.after += KittyGraphics.placement(
                of: key.id, number: key.number, part: placement.part, cell: placement.picture.cell)
        }
        for key in placed.keys where next[key] == nil {
            change.after += KittyGraphics.removal(of: key.id, number: key.number)
        }
        placed = next
        if count != firstCount { farewell = Self.end + deletion(of: sent.values.map(\.id)) }
        return change
    }

    /// Ends a sequence that was cut off.
    private static let end = Array("\u{1B}\\".utf8)

    /// Deletes all pictures: the screen is erased, and the terminal may have forgotten them with it. The next frame sends
    /// those that it shows, since what comes before this one is erased as well.
    private mutating func forget(_ change: inout PictureChange) {
        change.before += deletion(of: sent.values.map(\.id))
        (sent, placed, memory, farewell) = ([:], [:], 0, Self.end)
    }

    /// A picture as the terminal has it, after it was sent if it was not before; nil where it has to wait or does not fit.
    private mutating func send(_ picture: Picture, _ change: inout PictureChange) -> Sent? {
        if let known = sent[picture.number] { return known }
        guard change.before.count < PictureChange.limit else {
            isUnfinished = true
            return nil
        }
        guard makeRoom(for: picture.cost, &change) else { return nil }
        let id = KittyPlaceholders.id(count)
        count = (count + 1) % KittyPlaceholders.numbers
        var transmission = KittyGraphics.transmission(ofFile: picture.encoded, id: id)
        var placeholders: CellGrid?
        if usesPlaceholders {
            transmission += KittyGraphics.virtualPlacement(of: id, over: picture.cells)
            placeholders = KittyPlaceholders.cells(of: id, size: picture.cells)
        }
        change.before += isInTmux ? TmuxPassthrough.wrapped(transmission) : transmission
        memory += picture.cost
        let new = Sent(id: id, cost: picture.cost, lastFrame: frame, cells: placeholders)
        sent[picture.number] = new
        return new
    }

    /// Deletes the pictures that were longest not on the screen, until there is room for another. False where this frame needs
    /// all that are left.
    private mutating func makeRoom(for cost: Int, _ change: inout PictureChange) -> Bool {
        while sent.count >= Self.mostPictures || memory + cost > memoryLimit {
            guard let oldest = sent.min(by: { $0.value.lastFrame < $1.value.lastFrame }),
                oldest.value.lastFrame < frame
            else { return false }
            sent[oldest.key] = nil
            memory -= oldest.value.cost
            placed = placed.filter { $0.key.id != oldest.value.id }
            change.after += deletion(of: [oldest.value.id])
        }
        return true
    }

    /// Deletes pictures one by one: kitty knows a deletion of a range only from 0.33 on, and does nothing for it before.
    private func deletion(of ids: [UInt32]) -> [UInt8] {
        let commands = ids.flatMap { KittyGraphics.deletion(of: $0) }
        return isInTmux ? TmuxPassthrough.wrapped(commands) : commands
    }
}
