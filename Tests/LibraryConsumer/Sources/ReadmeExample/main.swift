import LazyImages

let loader = ImageLoader()
let image = try await loader.image(for: ImageRequest("https://example.org/posters/1.jpg"))
print(image.bitmap.size, image.source)
let size = ImageSize(width: 200, height: 300)
let poster = try ImageRequest("https://example.org/posters/2.jpg", targetSize: size, contentMode: .fill(.top))
let task = loader.task(for: poster)  // task.priority, task.previews, task.cancel()
for await progress in task.progress { print(progress.received) }
print(try await task.value.bitmap.size)

let asset = ImageRequest(id: "asset-7") { [UInt8]() }  // its bytes come from a closure
try await loader.store(try await FileLoader().file(for: poster).bytes.array, for: asset)
await loader.remove(asset)  // from memory and disk, at every size

let prewarmer = Prewarmer(loader, destination: .memory)  // pause(), resume(), stop([poster])
await prewarmer.run([poster])

let film = UploadBody.form([.field("title", "Nosferatu"), .file("poster", path: "nosferatu.jpg")])
let upload = Uploader(loader).task(for: try UploadRequest("http://localhost:8080/films", .post, film))
for await progress in upload.progress { print(progress.sent, progress.total) }
print(try await upload.value.status)  // what the loader has cached of the address is gone
