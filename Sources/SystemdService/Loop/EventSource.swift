internal import CascadeSystem
internal import CSystemd

/// Owns one source of the loop. The context of its callback must live until `close`.
@EventLoopActor
@safe final class EventSource {
  private var raw: OpaquePointer?

  /// `add` calls one of the sd_event_add_… functions, whose name is `call`.
  init(
    _ call: String, _ add: (OpaquePointer, inout OpaquePointer?) -> CInt
  ) throws(SystemError) {
    try unsafe checkedReturn(call, add(EventLoop.shared.event, &raw))
  }

  /// Calls `fired` when one of the requested events of the descriptor occurs.
  convenience init(
    _ descriptor: CInt, _ events: UInt32, _ context: UnsafeMutableRawPointer,
    fired: sd_event_io_handler_t
  ) throws(SystemError) {
    try unsafe self.init("sd_event_add_io") { event, source in
      unsafe sd_event_add_io(event, &source, descriptor, events, fired, context)
    }
  }

  isolated deinit { close() }

  func close() {
    unsafe sd_event_source_disable_unref(raw)
    unsafe raw = nil
  }

  func setPriority(_ priority: Int) throws(SystemError) {
    try unsafe checkedReturn(
      "sd_event_source_set_priority", sd_event_source_set_priority(raw, Int64(priority)))
  }

  func setEvents(_ events: UInt32) throws(SystemError) {
    try unsafe checkedReturn(
      "sd_event_source_set_io_events", sd_event_source_set_io_events(raw, events))
  }

  func setRateLimit(_ interval: Duration, burst: Int) throws(SystemError) {
    try unsafe checkedReturn(
      "sd_event_source_set_ratelimit",
      sd_event_source_set_ratelimit(raw, interval.microseconds, CUnsignedInt(burst)))
  }
}
