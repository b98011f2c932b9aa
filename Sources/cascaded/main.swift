internal import CascadeSystem
internal import DaemonProgram
internal import Glibc

if let status = Examination.run(Process.arguments) { exit(status) }
Command.main()
