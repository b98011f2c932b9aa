internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem
internal import Spool
internal import SystemdService

/// Jobs: deletions that begin here. One runs at a time, a part after the other, between the sweeps and the
/// change files of its store.
extension StoreService {
  /// Writes a job down. If it `waits`, returns when the job has ended or needs an answer.
  func delete(_ request: DeletionJob.Request, waits: Bool) async throws -> DeletionJob {
    let number = try await inTurn { try await onStore { try await writer.begin(request) } }
    return try await job(number, waits: waits)
  }

  /// The job, as soon as it does not run any more.
  func job(_ number: Int64, waits: Bool) async throws -> DeletionJob {
    let bell = jobsChanged.subscribe()
    wakeUp()
    while true {
      guard let job = try await reader.read({ try $0.job(number) }) else {
        throw StoreError("there is no job \(number)")
      }
      if !waits || job.state != .running { return job }
      try await bell.wait()
    }
  }

  /// Follows what was marked, and returns what became of it, or what waits; nil if there was nothing.
  func followMarks() async throws -> DeletionJob? {
    if configuration.model.softDeletions.isEmpty { return nil }
    var last: DeletionJob?
    while let number = try await inTurn({ try await onStore { try await writer.beginMarks() } }) {
      let job = try await job(number, waits: true)
      if job.state == .held { return job }
      last = job
    }
    return last ?? openJobs.first { $0.state == .held && $0.lastMark != nil }
  }

  /// What was seen to be marked is followed. Where that did nothing, nothing is told.
  private func noteEnd(ofMarks job: DeletionJob) {
    if job.batch != nil || job.state == .held || !job.blocked.isEmpty { report(job) }
  }

  func cancel(job number: Int64) async throws -> DeletionJob? {
    let job = try await inTurn { try await onStore { try await writer.cancel(job: number) } }
    if let job { openJobs.removeAll { $0.number == job.number } }
    jobsChanged.ring()
    nodesWent.ring()
    return job
  }

  /// Carries out a part of the job that is next. Returns false if no job runs.
  func carryOutJob() async throws -> Bool {
    if isSweepPostponed { return false }
    let (job, open) = try await onStore { try await writer.carryOutJob() }
    openJobs = open
    if open.contains(where: { $0.state == .held }) { await noteHeldPlans() }
    guard let job else { return false }
    if job.state != .running {
      if job.lastMark != nil {
        noteEnd(ofMarks: job)
      } else if job.overdue == nil {
        report(job)
      } else {
        noteEnd(of: job)
      }
      retriesFiles = true
    }
    jobsChanged.ring()
    nodesWent.ring()
    return true
  }
}

extension StoreWriter {
  /// For so long a job keeps the writer, where others wait.
  private static let slice = Duration.seconds(2)

  func begin(_ request: DeletionJob.Request) throws -> Int64 {
    try attached().writer.begin(request, at: SystemClock.wall())
  }

  func beginExpired() throws -> BegunPasses {
    try attached().writer.beginExpired(at: SystemClock.wall())
  }

  func beginMarks() throws -> Int64? {
    try attached().writer.beginMarks(at: SystemClock.wall())
  }

  func cancel(job: Int64) throws -> DeletionJob? {
    try attached().writer.cancel(job: job, at: SystemClock.wall())
  }

  /// Works on the first job that runs, until it has ended or others have waited long enough.
  func carryOutJob() throws -> (DeletionJob?, open: [DeletionJob]) {
    defer { progress.set(nil) }
    let writer = try attached().writer
    if configuration.model.schedule(of: .cascade) == .immediate { _ = try beginMarks() }
    let known = try writer.openJobs
    guard let next = known.first(where: { $0.state == .running })?.number else {
      return (nil, known)
    }
    try noteTime(writer)
    let end = ContinuousClock.now + StoreWriter.slice
    var policy = stepPolicy
    let pause = policy.pause
    policy.pause = { [hasOtherWork] time in
      if hasOtherWork.isSet && .now > end { throw JobMustWait() }
      try pause(time)
    }
    hasOtherWork.clear()
    var job: DeletionJob?
    do {
      job = try writer.carryOut(job: next, at: SystemClock.wall(), manners: policy)
    } catch is JobMustWait {}
    let open = try writer.openJobs
    return (job ?? open.first { $0.number == next }, open)
  }
}

/// Others have waited for a job long enough. It goes on after them.
private struct JobMustWait: Error, CustomStringConvertible {
  let description = "a job goes on later"
}
