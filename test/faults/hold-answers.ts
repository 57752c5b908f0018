// Keeps a played agent from answering until what its answers are to meet is there.
import type { ScriptedAgent } from '../../src/testing/scripted/scripted-connector.ts'

/** It answers only when it may. */
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
