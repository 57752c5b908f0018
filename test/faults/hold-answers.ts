// Keeps a scripted agent from answering until the test has prepared what its answers meet.
import type { ScriptedAgent } from '../../src/testing/scripted/scripted-connector.ts'

/** Makes the agent answer only after the test releases it. */
export function holdAnswers({ agent }: { readonly agent: Pick<ScriptedAgent, 'script'> }) {
  const { script } = agent
  let release: () => void = () => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  agent.script = async (...given) => {
    await released
    await script(...given)
  }
  return { release }
}
