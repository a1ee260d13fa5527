#if (os(iOS) || os(tvOS) || os(visionOS)) && canImport(BackgroundTasks)
    import BackgroundTasks
    public import Foundation

    /// Sends requests while the app is in the background.
    extension OfflineQueue {
        /// Registers a background task that sends the requests of a queue. Call this method before the app has finished launching.
        ///
        /// The task opens the queue and sends its requests once. The task then gives up the role of the sender, so that another process can
        /// send. If the system ends the task early, the queue begins no further calls, but it doesn't cancel the calls in flight.
        ///
        /// The task succeeds if there is no request left that a further run could send (``hasRequestsToSend``). Otherwise, it asks the
        /// system to run it again after 15 minutes at the earliest, because the app may not be opened before the server is available.
        /// Requests that wait for the app or the user cause no further run. For example, they belong to an account that is signed out or
        /// whose credentials the server refused. Such requests are sent when the user has opened the app and signed in.
        ///
        /// List the identifier in `BGTaskSchedulerPermittedIdentifiers` of `Info.plist`, and enable the background mode `processing`.
        /// - Parameters:
        ///   - identifier: The identifier of the task.
        ///   - open: Returns the queue of the app; `nil` if it can't be opened, such as before the first unlock of the device.
        /// - Returns: Whether the task was registered.
        @discardableResult
        public static func registerBackgroundTask(
            _ identifier: String,
            open: @escaping @Sendable () async -> OfflineQueue?
        ) -> Bool {
            BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in
                // The system calls the handlers of one task one after another.
                nonisolated(unsafe) let task = task
                // The handler must return before the work ends, and the system can end the work early.
                let work = Task {
                    let queue = await open()
                    await withTaskCancellationHandler {
                        await queue?.drain()
                    } onCancel: {
                        queue?.stop()
                    }
                    // A queue that can't be opened may contain requests.
                    let isDone = queue.map { !$0.hasRequestsToSend } ?? false
                    if !isDone {
                        try? OfflineQueue.scheduleBackgroundTask(identifier, earliest: Date(timeIntervalSinceNow: 900))
                    }
                    // The last step, because it can wait for another process, and the system may not wait that long.
                    await queue?.resign()
                    task.setTaskCompleted(success: isDone)
                }
                task.expirationHandler = { work.cancel() }
            }
        }

        /// Asks the system to run the task when the device has a network. Call this method if the queue ``hasRequestsToSend`` when the app
        /// enters the background.
        ///
        /// The system decides when the task runs. A later call with the same identifier replaces the earlier call.
        /// - Parameters:
        ///   - identifier: The identifier with which the task was registered.
        ///   - earliest: The time before which the task must not begin; `nil` for no restriction.
        /// - Throws: The error of `BGTaskScheduler.submit(_:)`, such as for an identifier that `Info.plist` does not list.
        public static func scheduleBackgroundTask(_ identifier: String, earliest: Date? = nil) throws {
            let request = BGProcessingTaskRequest(identifier: identifier)
            request.requiresNetworkConnectivity = true
            request.earliestBeginDate = earliest
            try BGTaskScheduler.shared.submit(request)
        }
    }
#endif
