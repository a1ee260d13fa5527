#if DEBUG && canImport(SwiftUI) && canImport(DeveloperToolsSupport)
    import DeveloperToolsSupport
    import SwiftUI

    // One preview for each state of a screen. A test compares the list with ScreenState.all.

    #Preview("Sign in: empty") { ScreenStateView("Sign in: empty") }
    #Preview("Sign in: typed") { ScreenStateView("Sign in: typed") }
    #Preview("Sign in: right to left") { ScreenStateView("Sign in: right to left") }
    #Preview("Sign in: password shown") { ScreenStateView("Sign in: password shown") }
    #Preview("Sign in: in flight") { ScreenStateView("Sign in: in flight") }
    #Preview("Sign in: fields empty") { ScreenStateView("Sign in: fields empty") }
    #Preview("Sign in: malformed address") { ScreenStateView("Sign in: malformed address") }
    #Preview("Sign in: wrong password") { ScreenStateView("Sign in: wrong password") }
    #Preview("Sign in: address refused") { ScreenStateView("Sign in: address refused") }
    #Preview("Sign in: suspended") { ScreenStateView("Sign in: suspended") }
    #Preview("Sign in: email not verified") { ScreenStateView("Sign in: email not verified") }
    #Preview("Sign in: link sent again") { ScreenStateView("Sign in: link sent again") }
    #Preview("Sign in: account deleted") { ScreenStateView("Sign in: account deleted") }
    #Preview("Sign in: limited") { ScreenStateView("Sign in: limited") }
    #Preview("Sign in: offline") { ScreenStateView("Sign in: offline") }
    #Preview("Sign in: server error") { ScreenStateView("Sign in: server error") }
    #Preview("Forgot password: empty") { ScreenStateView("Forgot password: empty") }
    #Preview("Forgot password: in flight") { ScreenStateView("Forgot password: in flight") }
    #Preview("Forgot password: address missing") { ScreenStateView("Forgot password: address missing") }
    #Preview("Forgot password: address refused") { ScreenStateView("Forgot password: address refused") }
    #Preview("Forgot password: sent") { ScreenStateView("Forgot password: sent") }
    #Preview("Forgot password: limited") { ScreenStateView("Forgot password: limited") }
    #Preview("Forgot password: pressed in the cooldown") { ScreenStateView("Forgot password: pressed in the cooldown") }
    #Preview("Reset: link in validation") { ScreenStateView("Reset: link in validation") }
    #Preview("Reset: validation failed") { ScreenStateView("Reset: validation failed") }
    #Preview("Reset: invalid link") { ScreenStateView("Reset: invalid link") }
    #Preview("Reset: expired link") { ScreenStateView("Reset: expired link") }
    #Preview("Reset: empty") { ScreenStateView("Reset: empty") }
    #Preview("Reset: typed") { ScreenStateView("Reset: typed") }
    #Preview("Reset: passwords differ") { ScreenStateView("Reset: passwords differ") }
    #Preview("Reset: in flight") { ScreenStateView("Reset: in flight") }
    #Preview("Reset: too short") { ScreenStateView("Reset: too short") }
    #Preview("Reset: password refused") { ScreenStateView("Reset: password refused") }
    #Preview("Reset: server error") { ScreenStateView("Reset: server error") }
    #Preview("Reset: succeeded") { ScreenStateView("Reset: succeeded") }
    #Preview("Reset: probably succeeded") { ScreenStateView("Reset: probably succeeded") }
    #Preview("Register: empty") { ScreenStateView("Register: empty") }
    #Preview("Register: typed") { ScreenStateView("Register: typed") }
    #Preview("Register: right to left") { ScreenStateView("Register: right to left") }
    #Preview("Register: without a password") { ScreenStateView("Register: without a password") }
    #Preview("Register: in flight") { ScreenStateView("Register: in flight") }
    #Preview("Register: fields empty") { ScreenStateView("Register: fields empty") }
    #Preview("Register: invalid name") { ScreenStateView("Register: invalid name") }
    #Preview("Register: password refused") { ScreenStateView("Register: password refused") }
    #Preview("Register: address taken") { ScreenStateView("Register: address taken") }
    #Preview("Register: closed") { ScreenStateView("Register: closed") }
    #Preview("Register: limited") { ScreenStateView("Register: limited") }
    #Preview("Register: signed in") { ScreenStateView("Register: signed in") }
    #Preview("Register: check email") { ScreenStateView("Register: check email") }
    #Preview("Check email: cooldown") { ScreenStateView("Check email: cooldown") }
    #Preview("Check email: sent again") { ScreenStateView("Check email: sent again") }
    #Preview("Check email: offline") { ScreenStateView("Check email: offline") }
    #Preview("Change password: empty") { ScreenStateView("Change password: empty") }
    #Preview("Change password: passwords differ") { ScreenStateView("Change password: passwords differ") }
    #Preview("Change password: wrong password") { ScreenStateView("Change password: wrong password") }
    #Preview("Change password: changed") { ScreenStateView("Change password: changed") }
    #Preview("Change password: session expired") { ScreenStateView("Change password: session expired") }
    #Preview("Change password: probably changed") { ScreenStateView("Change password: probably changed") }
    #Preview("Change email: empty") { ScreenStateView("Change email: empty") }
    #Preview("Change email: wrong password") { ScreenStateView("Change email: wrong password") }
    #Preview("Change email: requested") { ScreenStateView("Change email: requested") }
    #Preview("Delete account: empty") { ScreenStateView("Delete account: empty") }
    #Preview("Delete account: wrong password") { ScreenStateView("Delete account: wrong password") }
    #Preview("Delete account: deleted") { ScreenStateView("Delete account: deleted") }
    #Preview("Verify: with the session") { ScreenStateView("Verify: with the session") }
    #Preview("Verify: with the password") { ScreenStateView("Verify: with the password") }
    #Preview("Verify: session of another account") { ScreenStateView("Verify: session of another account") }
    #Preview("Verify: verified") { ScreenStateView("Verify: verified") }
    #Preview("Verify: expired link") { ScreenStateView("Verify: expired link") }
    #Preview("Verify: invalid link") { ScreenStateView("Verify: invalid link") }
    #Preview("Activate: empty") { ScreenStateView("Activate: empty") }
    #Preview("Activate: created") { ScreenStateView("Activate: created") }
    #Preview("Activate: expired link") { ScreenStateView("Activate: expired link") }
    #Preview("Confirm email: with the session") { ScreenStateView("Confirm email: with the session") }
    #Preview("Confirm email: changed") { ScreenStateView("Confirm email: changed") }
    #Preview("Undo email: question") { ScreenStateView("Undo email: question") }
    #Preview("Undo email: restored") { ScreenStateView("Undo email: restored") }
    #Preview("Keep account: question") { ScreenStateView("Keep account: question") }
    #Preview("Keep account: restored") { ScreenStateView("Keep account: restored") }
    #Preview("Keep account: expired link") { ScreenStateView("Keep account: expired link") }
    #Preview("Devices: loading") { ScreenStateView("Devices: loading") }
    #Preview("Devices: loaded") { ScreenStateView("Devices: loaded") }
    #Preview("Devices: others signed out") { ScreenStateView("Devices: others signed out") }
    #Preview("Devices: failed") { ScreenStateView("Devices: failed") }
    #Preview("Error lab: idle") { ScreenStateView("Error lab: idle") }
    #Preview("Error lab: failed") { ScreenStateView("Error lab: failed") }
    #Preview("Notes: loading") { ScreenStateView("Notes: loading") }
    #Preview("Notes: loaded") { ScreenStateView("Notes: loaded") }
    #Preview("Notes: failed") { ScreenStateView("Notes: failed") }
#endif
