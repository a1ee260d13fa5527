import SwiftUI

/// A view whose file imports only SwiftUI, as is common: literals and lengths need no other import.
struct SampleRow: View {
    let title: String
    let count: Int
    @Binding var isOn: Bool
    @State private var text = ""
    @State private var isAsking = false

    var body: some View {
        VStack(alignment: .leading, spacing: 8) {
            Text("Literal").font(.headline)
            Text(title).padding(.horizontal, 12)
            Text("\(title): \(count)").frame(maxWidth: .infinity, alignment: .leading)
            HStack {
                Image(systemName: "star").accessibilityHidden(true)
                Spacer(minLength: 4)
                Divider().frame(height: 20)
            }
            TextField("Name", text: $text)
            Toggle("On", isOn: $isOn)
            Toggle(title, isOn: $isOn)
            Button("Ask") { isAsking = true }
            Button(title, action: { isAsking.toggle() })
            LabeledContent("Count", value: "\(count)")
            ProgressView(value: 0.5) { Text("Half") }.tint(.green)
            ForEach(0..<count) { index in Text("\(index)") }
            Group {
                if isOn { Text("On").foregroundStyle(.red) } else { Text(verbatim: "Off").foregroundStyle(.secondary) }
            }
            .opacity(isOn ? 1 : 0.5)
            .animation(.default, value: isOn)
        }
        .padding()
        .background(Color.gray.opacity(0.1))
        .alert("Sure?", isPresented: $isAsking) {
            Button("Yes", role: .destructive) { isOn = true }
            Button("No", role: .cancel) {}
        } message: {
            Text("It can't be undone.")
        }
        .onChange(of: isOn) { _, new in if new { withAnimation { isAsking = false } } }
        .accessibilityElement(children: .combine)
        .accessibilityLabel(title)
        .accessibilityValue("On")
    }
}
