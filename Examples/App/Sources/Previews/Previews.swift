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
    #Preview("Error lab: idle") { ScreenStateView("Error lab: idle") }
    #Preview("Error lab: failed") { ScreenStateView("Error lab: failed") }
    #Preview("Notes: loading") { ScreenStateView("Notes: loading") }
    #Preview("Notes: loaded") { ScreenStateView("Notes: loaded") }
    #Preview("Notes: failed") { ScreenStateView("Notes: failed") }
#endif
