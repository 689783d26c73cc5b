// What Swift sees of GTK 4 and GLib, as far as the article uses it, so that the article compiles without GTK. The types
// and signatures were compared with those of GTK 4.8, with which the same source was built and run.

package typealias gint = Int32
package typealias gsize = UInt
package typealias gboolean = gint
package typealias gpointer = UnsafeMutableRawPointer
package struct GtkWidget {}
package struct GtkAdjustment {}
package struct GdkMemoryFormat: Sendable {}
package let GDK_MEMORY_R8G8B8A8 = GdkMemoryFormat()

package func g_bytes_new(_ data: UnsafeRawPointer?, _ size: gsize) -> OpaquePointer! { absent() }
package func g_bytes_unref(_ bytes: OpaquePointer!) { absent() }
@discardableResult
package func g_idle_add(
    _ function: (@convention(c) (gpointer?) -> gboolean)!, _ data: gpointer!
) -> UInt32 { absent() }
package func g_object_unref(_ object: gpointer!) { absent() }
package func gdk_memory_texture_new(
    _ width: gint, _ height: gint, _ format: GdkMemoryFormat, _ bytes: OpaquePointer!, _ stride: gsize
) -> OpaquePointer! { absent() }
package func gtk_picture_new() -> UnsafeMutablePointer<GtkWidget>! { absent() }
package func gtk_picture_set_paintable(_ picture: OpaquePointer!, _ paintable: OpaquePointer!) { absent() }
package func gtk_adjustment_get_value(_ adjustment: UnsafeMutablePointer<GtkAdjustment>!) -> Double {
    absent()
}
package func gtk_adjustment_get_page_size(_ adjustment: UnsafeMutablePointer<GtkAdjustment>!) -> Double {
    absent()
}

private func absent() -> Never { fatalError("GTK is not linked") }
