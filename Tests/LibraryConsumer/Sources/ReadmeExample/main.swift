import LazyImages

let loader = ImageLoader()
let image = try await loader.image(for: ImageRequest("https://example.org/posters/1.jpg"))
print(image.bitmap.size, image.source)
let addresses = (1...200).map { "https://example.org/posters/\($0).jpg" }
let rows = try addresses.map { try ImageRequest($0, targetSize: ImageSize(width: 200, height: 300)) }
let model = ImageListModel(loader: loader, rows: rows)
model.setVisible(0..<10)  // again whenever the list has moved
for await update in model.updates {
    for row in update.rows { print(row, update.state) }
}
