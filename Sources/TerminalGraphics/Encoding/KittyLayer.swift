/// Pictures by kitty's graphics protocol. The terminal stores each picture under an id and shows it at placements. A
/// picture is sent once; scrolling only moves its placement. The cells below a placement are blank, because blocks
/// would cost thousands of bytes for each scrolled line.
///
/// With placeholders, a picture's cells are text, which tmux moves and clips like other text; only the picture itself
/// is sent separately.
package struct KittyLayer: PictureLayer {
    /// The most bytes that our pictures may take in the terminal, as RGBA. Kitty gives all programs of a window 320 MB
    /// and evicts pictures beyond that; other terminals have less. 64 MiB hold 400 posters of 20 x 15 cells of 8 x 16
    /// pixels.
    package static let memoryLimit = 64 << 20
    /// The most pictures: the commands to delete them must fit into the cleanup bytes for a crash.
    package static let pictureLimit = 512

    /// A picture that the terminal stores. Its bytes are not kept here.
    private struct Sent {
        let id: UInt32
        /// Its size in the terminal's memory.
        let cost: Int
        /// The last frame that showed it.
        var lastFrame: Int
        /// Its placeholders, if it is shown by them.
        let cells: CellGrid?
    }

    /// The key of a placement: the picture's id and the placement's number.
    private struct PlacementKey: Hashable {
        let id: UInt32
        let number: UInt32
    }

    private let usesPlaceholders: Bool
    private let isInTmux: Bool
    private let memoryLimit: Int
    /// The stored pictures, by `Picture.number`.
    private var sent: [UInt64: Sent] = [:]
    /// The size of `sent` in the terminal's memory, in bytes.
    private var memory = 0
    private var placed: [PlacementKey: PicturePlacement] = [:]
    /// The next id. Counting starts at random, so that ids differ from those of other programs and earlier runs.
    private var count = Int.random(in: 0..<KittyPlaceholders.numbers)
    private var frame = 0
    package private(set) var isUnfinished = false
    package private(set) var cleanup = end

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
            deleteAll(&change)
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
        // New placements come before removals, to avoid flicker.
        for (key, placement) in next where placed[key] != placement {
            change.after += PictureChange.move(to: placement.visible.origin)
            change.after += KittyGraphics.placement(
                of: key.id, number: key.number, part: placement.part, cell: placement.picture.cell)
        }
        for key in placed.keys where next[key] == nil {
            change.after += KittyGraphics.removal(of: key.id, number: key.number)
        }
        placed = next
        if count != firstCount { cleanup = Self.end + deletion(of: sent.values.map(\.id)) }
        return change
    }

    /// Ends an interrupted sequence.
    private static let end = Array("\u{1B}\\".utf8)

    /// Deletes all pictures. The screen is about to be erased, and the terminal may forget its pictures with it. The
    /// next frame sends the visible ones, because the erasure would also remove those sent before it.
    private mutating func deleteAll(_ change: inout PictureChange) {
        change.before += deletion(of: sent.values.map(\.id))
        (sent, placed, memory, cleanup) = ([:], [:], 0, Self.end)
    }

    /// Sends a picture if the terminal does not have it yet. Nil if it must wait or does not fit.
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

    /// Evicts the pictures that were off the screen for longest, until another fits. False if this frame needs all the
    /// rest.
    private mutating func makeRoom(for cost: Int, _ change: inout PictureChange) -> Bool {
        while sent.count >= Self.pictureLimit || memory + cost > memoryLimit {
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

    /// Deletes pictures one by one: before 0.33 kitty ignores a deletion by range.
    private func deletion(of ids: [UInt32]) -> [UInt8] {
        let commands = ids.flatMap { KittyGraphics.deletion(of: $0) }
        return isInTmux ? TmuxPassthrough.wrapped(commands) : commands
    }
}
