/// Every setting of `serve`, in the order of its help. `ConfigCommandTests` holds the list against it.
extension ServeSettings {
  var list: [Setting] {
    database.list + listening.list + messages.list + connections.list + clients.list + pages.list
      + media.list + writes.list + care.list + log.list
  }
}

extension DatabaseOptions {
  var list: [Setting] {
    [
      Setting("database", database), Setting("busy-timeout-milliseconds", busyTimeoutMilliseconds),
    ]
  }
}

extension ListeningOptions {
  fileprivate var list: [Setting] {
    [Setting("host", host), Setting("port", port), Setting("event-loops", eventLoops)]
  }
}

extension MessageOptions {
  fileprivate var list: [Setting] {
    [
      Setting("request-line-bytes", requestLineBytes),
      Setting("header-block-bytes", headerBlockBytes), Setting("header-fields", headerFields),
      Setting("discarded-body-bytes", discardedBodyBytes),
      Setting("pipelining-depth", pipeliningDepth),
    ]
  }
}

extension ConnectionOptions {
  fileprivate var list: [Setting] {
    [
      Setting("maximum-connections", maximumConnections),
      Setting("header-read-timeout-milliseconds", headerReadTimeoutMilliseconds),
      Setting("minimum-body-bytes-per-second", minimumBodyBytesPerSecond),
      Setting("body-read-timeout-milliseconds", bodyReadTimeoutMilliseconds),
      Setting("idle-timeout-milliseconds", idleTimeoutMilliseconds),
      Setting("write-stall-timeout-milliseconds", writeStallTimeoutMilliseconds),
      Setting("minimum-answer-bytes-per-second", minimumAnswerBytesPerSecond),
      Setting("held-answer-bytes", heldAnswerBytes),
      Setting("answer-timeout-milliseconds", answerTimeoutMilliseconds),
      Setting("drain-timeout-milliseconds", drainTimeoutMilliseconds),
    ]
  }
}

extension ClientOptions {
  fileprivate var list: [Setting] {
    [
      Setting("requests-per-second", requestsPerSecond), Setting("request-burst", requestBurst),
      Setting("rate-limit-clients", rateLimitClients),
      Setting("trusted-proxies", trustedProxies.isEmpty ? nil : trustedProxies),
    ]
  }
}

extension PageOptions {
  fileprivate var list: [Setting] {
    [
      Setting("cache-max-age-seconds", cacheMaxAgeSeconds),
      Setting("cache-stale-while-revalidate-seconds", cacheStaleWhileRevalidateSeconds),
      Setting("encoded-memory-bytes", encodedMemoryBytes),
      Setting("item-file-bytes", itemFileBytes),
      Setting("compression-minimum-bytes", compressionMinimumBytes),
      Setting("refresh-interval-milliseconds", refreshIntervalMilliseconds),
      Setting("worker-threads", workerThreads), Setting("worker-queue", workerQueue),
      Setting("drain-grace-milliseconds", drainGraceMilliseconds),
    ]
  }
}

extension MediaOptions {
  fileprivate var list: [Setting] {
    [Setting("media-root", mediaRoot), Setting("media-max-age-seconds", mediaMaxAgeSeconds)]
  }
}

extension WriteOptions {
  fileprivate var list: [Setting] {
    [
      Setting("write-token", secret: writeToken), Setting("write-token-file", writeTokenFile),
      Setting("body-bytes", bodyBytes), Setting("import-bytes", importBytes),
      Setting("record-limit-bytes", recordLimitBytes), Setting("batch-records", batchRecords),
      Setting("maximum-imports", maximumImports),
      Setting("maximum-waiting-writes", maximumWaitingWrites),
      Setting("idempotency-keep-seconds", idempotencyKeepSeconds),
      Setting("maximum-idempotency-keys", maximumIdempotencyKeys),
      Setting("kept-rankings", keptRankings),
      Setting("kept-rankings-seconds", keptRankingsSeconds),
      Setting("maximum-kept-moves", maximumKeptMoves),
    ]
  }
}

extension CareOptions {
  fileprivate var list: [Setting] {
    [
      Setting("backup-folder", backupFolder),
      Setting("backup-interval-seconds", backupIntervalSeconds),
      Setting("backups-kept", backupsKept), Setting("backup-compression", backupCompression),
      Setting("wal-limit-bytes", walLimitBytes),
      Setting("checkpoint-interval-seconds", checkpointIntervalSeconds),
    ]
  }
}

extension LogOptions {
  fileprivate var list: [Setting] {
    [
      Setting("log-level", logLevel.rawValue), Setting("log-format", logFormat?.rawValue),
      Setting("log-file", logFile), Setting("access-log", accessLog),
      Setting("log-buffer-bytes", logBufferBytes),
    ]
  }
}
