// What a reader without the right to it does not see: inputs of approvals, the prompts that show them, what agents told of
// their tools, and what an integration would have pasted elsewhere.
import type { ApprovalView, IntegrationView, SendView, TurnDetail } from '../contract/index.ts'

/** Its hash stays: it proves what was asked, and tells nothing of it. */
export function withoutInput(view: ApprovalView): ApprovalView {
  return { ...view, input: null, description: null, masked: true }
}

export function withoutPrompt<View extends SendView>(view: View): View {
  return view.cause === 'prompt' ? { ...view, text: null, masked: true } : view
}

export function withoutToolTexts(view: TurnDetail): TurnDetail {
  return {
    ...view,
    events: view.events.map((event) => ({ ...event, text: null, masked: true })),
    // Prompts show the input as well.
    sends: view.sends.map(withoutPrompt),
  }
}

export function withoutPaste({ paste: _secret, ...view }: IntegrationView): IntegrationView {
  return view
}
