import CGTK4
import ImageCodecs
import LazyImages

/// A texture of a bitmap; the caller has a reference. Both have red, green, blue and alpha in this order in memory,
/// on every machine, and the alpha is not premultiplied.
func makeTexture(_ bitmap: Bitmap) -> OpaquePointer {
    // GLib copies the bytes.
    let bytes = bitmap.pixels.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
    defer { g_bytes_unref(bytes) }
    return gdk_memory_texture_new(
        gint(bitmap.width), gint(bitmap.height), GDK_MEMORY_R8G8B8A8, bytes, gsize(4 * bitmap.width))
}

/// Runs a closure on GLib's main loop, which runs on the main thread. Any thread may call it.
func onMainLoop(_ body: @escaping @MainActor () -> Void) {
    final class Box: Sendable {
        let body: @MainActor () -> Void
        init(_ body: @escaping @MainActor () -> Void) { self.body = body }
    }
    g_idle_add(
        { data in
            guard let data else { return 0 }
            let box = Unmanaged<Box>.fromOpaque(data).takeRetainedValue()
            MainActor.assumeIsolated { box.body() }
            return 0  // not again
        }, Unmanaged.passRetained(Box(body)).toOpaque())
}

/// A column of pictures that scrolls.
@MainActor
final class PosterColumn {
    static let size = ImageSize(width: 200, height: 300)
    private let model: ImageListModel
    private let pictures: [UnsafeMutablePointer<GtkWidget>]
    private var observation: RowObservation?

    init(_ addresses: [String]) {
        let rows = addresses.map { ImageRequest("\($0)", targetSize: Self.size) }
        model = ImageListModel(loader: ImageLoader(), rows: rows)
        pictures = rows.compactMap { _ in gtk_picture_new() }
        observation = model.observe { [weak self] update in
            onMainLoop { self?.draw(update) }
        }
    }

    private func draw(_ update: RowUpdate) {
        guard let bitmap = update.bitmap else { return }
        let texture = makeTexture(bitmap)
        defer { g_object_unref(UnsafeMutableRawPointer(texture)) }
        for row in update.rows { gtk_picture_set_paintable(OpaquePointer(pictures[row]), texture) }
    }

    /// To be called for the signals `changed` and `value-changed` of the column's vertical adjustment.
    func didScroll(to adjustment: UnsafeMutablePointer<GtkAdjustment>) {
        let top = gtk_adjustment_get_value(adjustment)
        let bottom = top + gtk_adjustment_get_page_size(adjustment)
        let height = Double(Self.size.height)
        model.setVisible(Int(top / height)..<min(pictures.count, Int((bottom / height).rounded(.up))))
    }
}
