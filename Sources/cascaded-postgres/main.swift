internal import DaemonProgram

Command.main()
