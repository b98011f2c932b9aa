internal import Glibc
internal import System

StandardStream.openMissing()
// Before any thread exists: one that does not block these signals would die of them, of SIGPIPE
// where nobody reads the log any more.
Signals.block([SIGTERM, SIGINT, SIGHUP, SIGPIPE])
Process.raiseDescriptorLimit()
Process.shareHeap()
exit(Command.run(Process.arguments))
