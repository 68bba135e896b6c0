/// The methods of aria2's interface.
enum RPCMethod: String, Sendable, CaseIterable {
    case addUri = "aria2.addUri"
    case addTorrent = "aria2.addTorrent"
    case getPeers = "aria2.getPeers"
    case addMetalink = "aria2.addMetalink"
    case remove = "aria2.remove"
    case pause = "aria2.pause"
    case forcePause = "aria2.forcePause"
    case pauseAll = "aria2.pauseAll"
    case forcePauseAll = "aria2.forcePauseAll"
    case unpause = "aria2.unpause"
    case unpauseAll = "aria2.unpauseAll"
    case forceRemove = "aria2.forceRemove"
    case changePosition = "aria2.changePosition"
    case tellStatus = "aria2.tellStatus"
    case getUris = "aria2.getUris"
    case getFiles = "aria2.getFiles"
    case getServers = "aria2.getServers"
    case tellActive = "aria2.tellActive"
    case tellWaiting = "aria2.tellWaiting"
    case tellStopped = "aria2.tellStopped"
    case getOption = "aria2.getOption"
    case changeUri = "aria2.changeUri"
    case changeOption = "aria2.changeOption"
    case getGlobalOption = "aria2.getGlobalOption"
    case changeGlobalOption = "aria2.changeGlobalOption"
    case purgeDownloadResult = "aria2.purgeDownloadResult"
    case removeDownloadResult = "aria2.removeDownloadResult"
    case getVersion = "aria2.getVersion"
    case getSessionInfo = "aria2.getSessionInfo"
    case shutdown = "aria2.shutdown"
    case forceShutdown = "aria2.forceShutdown"
    case getGlobalStat = "aria2.getGlobalStat"
    case saveSession = "aria2.saveSession"
    case multicall = "system.multicall"
    case listMethods = "system.listMethods"
    case listNotifications = "system.listNotifications"

    /// Whether the method is supported. The others are refused by name, and not listed.
    var isServed: Bool {
        switch self {
        case .addTorrent, .addMetalink, .shutdown, .forceShutdown: false
        default: true
        }
    }

    /// Whether a call needs no secret: its answer is the same for every service.
    var isPublic: Bool { self == .listMethods || self == .listNotifications }

    /// Whether a caller of scope `read` may call it.
    var onlyReads: Bool {
        switch self {
        case .getPeers, .tellStatus, .getUris, .getFiles, .getServers, .tellActive, .tellWaiting, .tellStopped, .getOption,
            .getGlobalOption, .getVersion, .getSessionInfo, .getGlobalStat, .multicall, .listMethods, .listNotifications:
            true
        default: false
        }
    }

    /// Whether it lists many downloads.
    var returnsMany: Bool {
        switch self {
        case .tellActive, .tellWaiting, .tellStopped: true
        default: false
        }
    }

    /// Whether an event loop can answer it from memory without delay. Lists may be long, and the others call the
    /// download service.
    var isQuick: Bool {
        switch self {
        case .tellStatus, .getGlobalStat, .getVersion, .getSessionInfo, .getPeers, .listMethods, .listNotifications: true
        default: false
        }
    }

    /// Whether calls for different downloads may run at once, so that they are committed together.
    var isCommand: Bool {
        switch self {
        case .remove, .forceRemove, .pause, .forcePause, .unpause, .removeDownloadResult: true
        default: false
        }
    }

    /// The log's description of a change that operators have to account for; `nil` for other methods.
    var loggedChange: String? {
        switch self {
        case .remove, .forceRemove: "a download is cancelled"
        case .removeDownloadResult: "a download is deleted"
        case .purgeDownloadResult: "downloads are deleted"
        case .changeGlobalOption: "settings are changed"
        case .pauseAll, .forcePauseAll: "downloads are paused"
        case .unpauseAll: "downloads are resumed"
        default: nil
        }
    }
}

/// The notifications to listeners.
enum RPCNotification: String, Sendable, CaseIterable {
    case start = "aria2.onDownloadStart"
    case pause = "aria2.onDownloadPause"
    case stop = "aria2.onDownloadStop"
    case complete = "aria2.onDownloadComplete"
    case error = "aria2.onDownloadError"
}
