import Foundation
import ImageCodecs

/// Steps of a pipeline on the pixels of files: milliseconds, beside Pillow in the same run. And how
/// many times its pixels an image takes at its peak in twenty steps, itself included.
func processBenchmark(_ options: Options) async throws -> [BenchmarkResult] {
    guard options.words.count > 1 else { throw BenchmarkFailure(description: "process needs image files") }
    var results: [BenchmarkResult] = []
    for path in options.words.dropFirst() {
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let bitmap = try ImageDecoders.standard.decode(bytes)
        let pillow = options.wantsReference ? try PillowTimes(of: bitmap, runs: options.runs) : nil
        let box = ImageSize(width: 342, height: 513)
        let steps: [(name: String, processor: ImageProcessor)] = [
            ("blur 2", .blur(radius: 2)), ("blur 20", .blur(radius: 20)), ("blur 200", .blur(radius: 200)),
            ("resize 342x513", .resize(to: box)), ("turn 90", .rotate(.right)),
            ("mirror", .flip(.horizontal)),
            ("round 40", .roundedCorners(radius: 40)), ("circle", .circle),
            ("border 8", .border(.white, width: 8)),
            ("pad 20", .padding(ImageInsets(20), background: .white)),
        ]
        let name = "process \(URL(filePath: path).lastPathComponent), "
        for (step, processor) in steps {
            let times = try await alternating(
                runs: options.runs, ours: { _ = try bitmap.processed(by: [processor]) }, reference: nil)
            results.append(
                BenchmarkResult(
                    name: name + step, unit: "ms", ours: times.ours * 1000,
                    reference: pillow?.milliseconds[step], referenceName: "Pillow"))
        }
        let twenty = (0..<5).flatMap { number -> [ImageProcessor] in
            [
                .blur(radius: 3), .rotate(number % 2 == 0 ? .left : .right), .roundedCorners(radius: 9),
                .flip(.vertical),
            ]
        }
        let growth = try PeakMemory.growth { _ = try bitmap.processed(by: twenty) }
        results.append(
            BenchmarkResult(
                name: name + "20 steps", unit: "bitmaps",
                ours: Double(growth + bitmap.cost) / Double(bitmap.cost)))
    }
    return results
}

/// The median times of Pillow's steps, in milliseconds.
private struct PillowTimes {
    let milliseconds: [String: Double]

    private static let script = """
        import sys, time, statistics
        from PIL import Image, ImageFilter, ImageOps
        path, width, height, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
        image = Image.frombytes('RGBA', (width, height), open(path, 'rb').read())
        small = image.copy()
        small.thumbnail((342, 513))
        steps = {
            'blur 2': lambda: image.filter(ImageFilter.GaussianBlur(2)),
            'blur 20': lambda: image.filter(ImageFilter.GaussianBlur(20)),
            'blur 200': lambda: image.filter(ImageFilter.GaussianBlur(200)),
            'resize 342x513': lambda: image.resize(small.size, Image.LANCZOS),
            'turn 90': lambda: image.transpose(Image.ROTATE_270),
            'mirror': lambda: image.transpose(Image.FLIP_LEFT_RIGHT),
            'pad 20': lambda: ImageOps.expand(image, 20, (255, 255, 255, 255)),
        }
        for name, step in steps.items():
            times = []
            for run in range(runs + 1):
                start = time.perf_counter()
                step()
                times.append(time.perf_counter() - start)
            print(name, statistics.median(times[1:]) * 1000, sep='=')
        """

    init(of bitmap: Bitmap, runs: Int) throws {
        let folder = try ScratchFolder()
        let pixels = folder.path + "/pixels"
        try Data(bitmap.pixels).write(to: URL(filePath: pixels))
        // Debian's Python: another one does not find Debian's Pillow.
        let output = try Subprocess.output(
            "/usr/bin/python3",
            ["-c", Self.script, pixels, "\(bitmap.width)", "\(bitmap.height)", "\(runs)"])
        var times: [String: Double] = [:]
        for line in String(decoding: output, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: "=")
            if parts.count == 2 { times[String(parts[0])] = Double(parts[1]) }
        }
        milliseconds = times
    }
}
