#if canImport(SwiftUI)
    import ErrorContract
    import SwiftUI

    extension View {
        /// Lays a screen out in the direction that its language is read in, whatever the system's language is.
        func reading(_ language: Language) -> some View {
            environment(\.layoutDirection, language.isRightToLeft ? .rightToLeft : .leftToRight)
        }
    }
#endif
