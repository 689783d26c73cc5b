import LazyImages

let loader = ImageLoader()
let size = ImageSize(width: 200, height: 300)  // pixels
let poster = ImageRequest("https://example.org/posters/1.jpg", targetSize: size, contentMode: .fill(.top))
let task = loader.imageTask(with: poster)  // task.cancel() ends it for this caller alone
for await progress in task.progress { print(progress.fraction ?? 0) }
do throws(ImageLoadingError) {
    let image = try await task.value  // in short: try await loader.image(for: url)
    print(image.bitmap, image.source)
} catch .cancelled {
    print("nobody waits for it")
} catch {
    print(error, error.isRetryable)
}

let rows = (1...200).map { ImageRequest("https://example.org/posters/\($0).jpg", targetSize: size) }
let model = ImageListModel(loader: loader, rows: rows)
model.scrollPhase = .dragging  // nothing starts while the list moves
model.setVisible(0..<10)
model.scrollPhase = .idle  // the visible rows load, then the page ahead
for await update in model.updates {
    for row in update.rows { print(row, update.state) }
}
