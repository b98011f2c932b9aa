internal import CascadeSystem
internal import Glibc
internal import SystemdService

StandardStream.openMissing()
// As in `cascaded`: signals are blocked before any thread exists.
Signals.block([SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGXFSZ])
Process.raiseDescriptorLimit()
Process.shareHeap()
exit(Command.run(Process.arguments))
