import AccountContract
import AccountCore
import ErrorContract
import Foundation
import StrictJSON

extension AccountExport {
    /// The exported document, which the user downloads. It contains no token digests, no password hash, and nothing about other accounts.
    var json: JSONValue {
        [
            "exported_at": Self.text(exportedAt),
            "account": .object(members(of: record.account)),
            "former_addresses": .array(
                record.formerAddresses.map {
                    [
                        "email": .string($0.email.text), "replaced_at": Self.text($0.replacedAt),
                        "expires_at": Self.text($0.expiresAt),
                    ]
                }
            ),
            "links": .array(
                record.links.map {
                    [
                        "purpose": .string($0.purpose.rawValue), "recipient": .string($0.recipient.text),
                        "created_at": Self.text($0.createdAt), "expires_at": Self.text($0.expiresAt),
                    ]
                }
            ),
            "reset_links": .array(
                resetLinks.map {
                    [
                        "recipient": .string($0.recipient.text), "created_at": Self.text($0.createdAt),
                        "expires_at": Self.text($0.expiresAt),
                    ]
                }
            ),
            "lock_links": .array(remainder.lockLinkExpiries.map { ["expires_at": Self.text($0)] }),
            "queued_emails": .array(
                remainder.queuedEmails.map { ["kind": .string($0.kind), "created_at": Self.text($0.createdAt)] }
            ),
            "sent_reset_emails": .array(remainder.resetEmailTimes.map { ["sent_at": Self.text($0)] }),
            "sessions": .array(sessions.map { .object(Self.members(of: $0)) }),
            "devices": .array(devices.map { ["family": .string($0.family), "first_seen_at": Self.text($0.firstSeenAt)] }),
            "events": .array(events.map { .object(Self.members(of: $0)) }),
        ]
    }

    private func members(of account: Account) -> JSONObject {
        var members: JSONObject = [
            "id": .string(account.id.description), "email": .string(account.email.text),
            "email_verified": .bool(account.isEmailVerified), "first_name": .string(account.firstName.rawValue),
            "locale": .string(account.language.rawValue), "state": .string(account.state.rawValue),
            "created_at": Self.text(account.createdAt),
        ]
        members["last_active_at"] = remainder.activeAt.map(Self.text)
        return members
    }

    private static func members(of use: SessionUse) -> JSONObject {
        var members: JSONObject = [
            "id": .string(use.session.id.description), "created_at": text(use.session.createdAt),
            "last_used_at": text(use.lastUsedAt),
        ]
        members["device_name"] = use.session.deviceName.map { .string($0) }
        return members
    }

    private static func members(of event: AuditEvent) -> JSONObject {
        var members: JSONObject = ["kind": .string(event.kind.rawValue), "time": text(event.time)]
        members["client"] = event.origin.client.map { .string($0) }
        members["request_id"] = event.origin.requestID.map { .string($0) }
        return members
    }

    private static func text(_ time: Date) -> JSONValue { .string(time.formatted(.iso8601)) }
}
