import LazyImages

let loader = ImageLoader()
let image = try await loader.image(for: ImageRequest("https://example.org/posters/1.jpg"))
print(image.bitmap.size, image.source)
let size = ImageSize(width: 200, height: 300)
let rows = (1...200).map { ImageRequest("https://example.org/posters/\($0).jpg", targetSize: size) }
let model = ImageListModel(loader: loader, rows: rows)
model.setVisible(0..<10)  // again whenever the list has moved
for await update in model.updates {
    for row in update.rows { print(row, update.state) }
}
