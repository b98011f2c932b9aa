internal import SystemdService

/// The kinds of messages. The message catalog explains each by its number; events show its name.
extension LogMessageID {
  static let applied = LogMessageID("0a6c1e7d52f84b3b9c07d8e4f15a2bb0", "applied")
  static let deleted = LogMessageID("8b1c2ae66b8e4a0e9d5a0e3f6c1f7a11", "deleted")
  static let rejected = LogMessageID("5f3d7c0a4f5b4e5c9a7be2d61c8e9b22", "rejected")
  static let held = LogMessageID("c2e7f4b19d6a4f3f8a1d0b5e7c9a3d33", "held")
  static let approved = LogMessageID("71e4d0c95a3b4f8ea26c80d7b1f9e3a4", "approved")
  static let retried = LogMessageID("0fb92c6ed8174a5cb3a1e65d40c7f2b8", "retried")
  static let dropped = LogMessageID("ce5a3817f0d24b96985b7d2e41a60c3f", "dropped")
  static let swept = LogMessageID("1d9a6e5c3b7f4d2ea8c4f0b6d3e5a744", "swept")
  static let undone = LogMessageID("6e0d4b3f87c1452ab95f7e20d8c6a1cc", "undone")
  static let undoGivenUp = LogMessageID("8f3c1d5e9b204a67b0e2c94d7a6f51e8", "undoGivenUp")
  static let recovered = LogMessageID("7b2f9d4e1c6a48d5a3e8b0c4f7d1e966", "recovered")
  static let trouble = LogMessageID("e4a1b7d83c5f49c6b2d8a6f1c7e3b955", "trouble")
  static let mismatch = LogMessageID("30c6b9d2a1f74e58b7d40c9e62f8a177", "mismatch")
  static let replaced = LogMessageID("94f1e2c7d05b4a3e8c6a17b3d9e0f288", "replaced")
  static let attached = LogMessageID("a8d37c50e94b4f12860f5d2b1e7c9399", "attached")
  static let detached = LogMessageID("f2b5810d6c3e49a7b94c8e07d1a3f4aa", "detached")
  static let paused = LogMessageID("2c84f0b76d1e4e95a37b6c09e5d8f1dd", "paused")
  static let resumed = LogMessageID("d17b5e2a90c64c3f8e2a4f6b7d03c9ee", "resumed")
  static let reloaded = LogMessageID("49e7a3d15b8f4c60923d0e6f8b71c5f1", "reloaded")
  static let reloadFailed = LogMessageID("b3f60c82e7d94a1d85c29e4a6f07d1f2", "reloadFailed")
  static let looking = LogMessageID("3f8b0c6ad1e74f2b9a5d7c14e60b8f27", "looking")
  static let looked = LogMessageID("a95e21d4c7f04b6e8d13f6b2905ac741", "looked")
  static let filesTended = LogMessageID("5d0a7be1c3924f6fa1e8d27b90c46e13", "filesTended")
  static let fileLeft = LogMessageID("b86f24d90e7a4c53972d1f0ac85be3d4", "fileLeft")
}
