import LazyImages

/// The Swift of the article Following loads, word for word except for the indentation.
enum FollowingLoadsExamples {
    static func follow(_ loader: ImageLoader, _ request: ImageRequest) async {
        let task = loader.imageTask(with: request)
        for await event in task.events {
            switch event {
            case .waiting: print("waits for its turn, or for another try")
            case .started(let queued): print("the transfer begins after \(queued)")
            case .progress(let progress):
                print(progress.received, progress.expected ?? 0, progress.fraction ?? 0)
            case .preview(let preview): print(preview.number, preview.bitmap)
            case .finished(.success(let image)): print(image)
            case .finished(.failure(let error)): print(error)
            }
        }
    }

    static func measure(_ task: ImageTask) async {
        _ = await task.result
        if let metrics = task.metrics {
            print(metrics.total, metrics.queued, metrics.received)
            if let source = metrics.source { print(source) }
            if let file = metrics.file, let decoding = metrics.decoding { print(file, decoding) }
        }
    }

    static func watch(_ loader: ImageLoader) -> Task<Void, Never> {
        let activity = loader.activity
        for (host, counters) in activity.hosts {
            print(host, counters.running, counters.finished, counters.failed, counters.bytes)
        }
        let watching = Task {
            for await event in activity.events {
                switch event.kind {
                case .waiting: print(event.transfer, "waits")
                case .started(let queueWait): print(event.transfer, event.url, queueWait)
                case .redirected(let location): print(event.transfer, "goes to", location)
                case .finished(let status, let metrics): print(status, metrics.bytes, metrics.total)
                case .failed(let error, _): print(error)
                case .retrying(let pause): print("again in", pause)
                }
            }
        }
        return watching  // watching.cancel() ends it
    }

    static func count(_ loader: ImageLoader) {
        let memory = loader.memory.counters
        print(memory.hits, memory.misses, memory.entries, memory.bytes, memory.evictions)
        if let disk = loader.disk?.counters {
            print(disk.hits, disk.misses, disk.entries, disk.bytes, disk.lastFault ?? "no fault")
        }
    }

    static func relieve() async {
        let pressure = MemoryPressure()
        let loader = ImageLoader(pressure: pressure)
        pressure.report(.warning)  // .normal, .warning, .critical
        for await level in MemoryPressure.system where level == .critical {
            print("the system has no memory left; the loader keeps", loader.memory.counters.bytes)
        }
    }
}
