import LazyImages

/// Requests with these names; `-` is a row without an image.
func requests(_ names: String) throws -> [ImageRequest?] {
    try names.split(separator: " ").map { $0 == "-" ? nil : try request(String($0)) }
}

func request(_ name: String) throws -> ImageRequest { ImageRequest("https://example.org/\(name)") }

/// A list of these rows over a loader that has some of their images in memory.
func list(
    _ names: String, memory: Set<String> = [], visible: Range<Int>? = nil
) throws -> (loader: HeldLoader, model: ImageListModel) {
    let loader = HeldLoader(memory: memory)
    let model = ImageListModel(loader: loader, rows: try requests(names), pressure: nil)
    if let visible { model.setVisible(visible) }
    return (loader, model)
}

/// Reads updates until all of `texts` have arrived, and returns them all. Examples: `a: loading 7`, `b:
/// placeholder`, and `c: c` for a loaded image.
func read(_ updates: inout RowUpdates.Iterator, until texts: String...) async -> [String] {
    var seen: [String] = []
    while !texts.allSatisfy(seen.contains), let update = await updates.next() {
        seen.append(update.text)
    }
    return seen
}

extension RowState {
    var text: String {
        switch self {
        case .placeholder: "placeholder"
        case .loading(let progress, let preview):
            "loading \(progress.received)" + (preview.map { ", preview \($0.number)" } ?? "")
        case .loaded(let image): image.url.lastPathComponent
        case .failed(let reason, let isRetryable): "failed \(reason.code)\(isRetryable ? ", retryable" : "")"
        }
    }
}

extension RowUpdate {
    var text: String { "\(key.name): \(state.text)" }
}

extension LoadKey {
    /// The last part of the request's URL.
    var name: String { image.url.split(separator: "/").last.map(String.init) ?? "" }
}

extension ImageListModel {
    /// The state of an image, as text.
    nonisolated func text(of name: String) throws -> String { state(of: try request(name)).text }
}
