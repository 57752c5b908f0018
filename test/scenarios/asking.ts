// An agent that asks. Anna's message makes it want to run something, and she may decide.
import { OPEN, testIntegration } from '../../src/testing/test-settings.ts'
import type { OpenRiver, River, RiverOptions } from './river.ts'

export const RUN = { toolName: 'Bash', description: 'Run the tests', input: 'npm test -- --all' }
export const CHAT = testIntegration('chat', { access: { ...OPEN, approvers: ['anna'] } })

/** Returns the id of the approval. */
export async function asking(
  open: OpenRiver,
  options: RiverOptions = {},
): Promise<{ river: River; id: string }> {
  const river = await open({ integrations: [CHAT], ...options })
  river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, RUN))
  await river.person('anna').says('go')
  await river.settle()
  const [approval] = await river.operator().approvals(null, 10)
  return { river, id: approval?.id ?? '' }
}

export const state = async (river: River, id: string) => (await river.store().approval(id))?.state

/** The first line of each text. A question that ended keeps the original question below that line. */
export const headlines = (shown: readonly string[]): readonly string[] =>
  shown.map((text) => text.split('\n')[0] ?? '')
