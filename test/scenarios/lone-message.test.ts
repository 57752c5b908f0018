// What a lone message costs: how many commits are on its way, whatever each of them takes. A lone message waits for every one
// of them, so one more is a slower answer for everybody.
import { expect, it } from 'vitest'
import { TURN_TOKENS } from '../../src/kit/index.ts'
import { describeRiver, type River } from './river.ts'

/** The last entry of a commit carries its MAC. */
async function commitsOf(river: River, work: () => Promise<unknown>): Promise<readonly string[]> {
  const entries = () => river.operator().ledger(0, 10_000)
  const before = (await entries()).length
  await work()
  const commits: string[] = []
  let told: string[] = []
  for (const { kind, to, mac } of (await entries()).slice(before)) {
    told.push(`${kind} ${to}`)
    if (mac === '') continue
    commits.push(told.join(', '))
    told = []
  }
  return commits
}

describeRiver(
  'a lone message',
  (open) => {
    it('[I23.lone-commits] is three commits: received and handed over with its credentials; answered and being sent; sent', async () => {
      const river = await open({ agent: { mints: TURN_TOKENS } })
      const talk = async (text: string) => {
        await river.person('anna').says(text)
        await river.settle()
      }
      await talk('first')
      const commits = await commitsOf(river, () => talk('second'))
      expect(river.platform.texts('anna').at(-1)).toBe('re: second')
      expect(commits).toEqual([
        'turn queued, turn handed, token minted, token minted',
        'turn answered, send queued, send sending',
        'send sent',
      ])
    })

    it('[I23.lone-commits] the credentials that went out with a turn are good, for it alone, and others each time', async () => {
      const river = await open({ agent: { mints: TURN_TOKENS } })
      for (const text of ['one', 'two']) await river.person('anna').says(text)
      await river.settle()
      const sent = river.agent.deliveries.flatMap(({ tokens = [] }) => tokens)
      expect(new Set(sent).size).toBe(4)
      expect(sent.map((token) => token.split('_')[0])).toEqual(['cb', 'agent', 'cb', 'agent'])
      const kept = await river.store().tokens()
      expect(kept.map(({ kind, scope }) => [kind, scope.turn]).toSorted()).toEqual(
        river.agent.deliveries.flatMap(({ turn }) => TURN_TOKENS.map(({ kind }) => [kind, turn])).toSorted(),
      )
      expect(JSON.stringify(kept)).not.toContain(sent[0])
    })
  },
  ['sqlite', 'postgres'],
  'each',
)
