import LazyImages

// Shows the pictures at the addresses of its command line as lines of coloured cells, ten at a time.
let size = ImageSize(width: 60, height: 1)
func plain(_ level: UInt8) -> Bitmap {
    Bitmap(width: size.width, height: 1, pixels: Array(repeating: level, count: 4 * size.width))
}
func draw(_ bitmap: Bitmap?, in row: Int) {
    var line = "\u{1B}[\(row % 10 + 1);1H"
    let pixels = bitmap?.pixels ?? []
    for cell in stride(from: 0, to: pixels.count, by: 4) {
        let color = pixels[cell..<cell + 3].map { String($0) }.joined(separator: ";")
        line += "\u{1B}[48;2;\(color)m "
    }
    print(line + "\u{1B}[0m")
}
let rows = CommandLine.arguments.dropFirst().map { address in
    ImageRequest(
        "\(address)", targetSize: size, contentMode: .fill, processors: [.roundedCorners(radius: 2)])
}
let model = ImageListModel(
    loader: ImageLoader(), rows: rows, wantsPreviews: true, placeholder: plain(96), failurePicture: plain(32))
let observation = model.observe { update in
    for row in update.rows where model.visibleRows.contains(row) { draw(update.bitmap, in: row) }
}
for first in stride(from: 0, to: rows.count, by: 10) {
    print("\u{1B}[2J")
    model.scrollPhase = .dragging  // no load starts while the list moves
    model.setVisible(first..<min(first + 10, rows.count), focus: first)  // the focus loads first
    for row in model.visibleRows { draw(model.bitmap(for: rows[row]), in: row) }
    model.scrollPhase = .idle  // the visible rows load, then the page ahead
    try await Task.sleep(for: .seconds(3))
}
observation.cancel()
