internal import Glibc
internal import CascadeSystem
StandardStream.openMissing()
// Before any thread exists: one that does not block these signals would die of them, of SIGPIPE
// where nobody reads the log any more, of SIGXFSZ where no file may grow: that is like a full disk.
Signals.block([SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGXFSZ])
Process.raiseDescriptorLimit()
Process.shareHeap()
exit(Command.run(Process.arguments))
