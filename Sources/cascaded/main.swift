internal import CascadeSystem
internal import Glibc
internal import SystemdService

StandardStream.openMissing()
// Signals are blocked before any thread exists, because a thread that does not block them would be
// killed by them. SIGPIPE comes when the log's reader is gone. SIGXFSZ comes when a file may not
// grow; without the signal, that is an error like a full disk.
Signals.block([SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGXFSZ])
Process.raiseDescriptorLimit()
Process.shareHeap()
exit(Command.run(Process.arguments))
