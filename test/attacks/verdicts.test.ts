// Verdicts of many people over many surfaces at once, replayed, forged, and from those who may not: one wins, everybody
// else is told so, and the agent hears one answer.
import { expect, it } from 'vitest'
import { OPEN, testIntegration } from '../../src/testing/test-settings.ts'
import { asking, RUN, state } from '../scenarios/asking.ts'
import { describeRiver, type River } from '../scenarios/river.ts'

const APPROVERS = ['anna', 'bert', 'cleo', 'dora', 'emil']
const access = { ...OPEN, approvers: APPROVERS }
const SURFACES = ['chat', 'second', 'third']
const integrations = SURFACES.map((id) => testIntegration(id, { access }))
const crowd = SURFACES.flatMap((integration) => APPROVERS.map((who) => ({ who, integration })))

const decisions = async (river: River, id: string) =>
  (await river.operator().ledger(0, 10_000)).filter(
    (entry) => entry.kind === 'approval' && entry.ref === id && entry.to === 'decided',
  )

describeRiver(
  'attacks with verdicts',
  (open) => {
    it.each([1, 2, 3])(
      '[I14.attack-verdicts] words, taps, console and API at once (%i): one wins, every other is told',
      async (round) => {
        const { river, id } = await asking(open, { integrations, watched: true })
        const said = crowd.map(({ who, integration }, at) => {
          const person = river.person(who, who, { integration })
          const yes = (at + round) % 2 === 0
          if (at % 3 === 0) return person.taps(yes ? 'Allow' : 'Deny')
          return person.says(`${yes ? 'yes' : 'no'} ${id}`)
        })
        const desks = ['console', 'api', 'cli'].flatMap((via) =>
          (['allow', 'deny'] as const).map((behavior) =>
            river.operator().decide(id, behavior, `op-${via}`, via),
          ),
        )
        // Whoever comes first in the list is not whoever wins: each round begins elsewhere.
        const [heard, decided] = await Promise.all([Promise.all(said), Promise.all(desks)])
        await river.settle()
        const row = await river.store().approval(id)
        const won = [
          ...heard.filter(({ answer }) => answer === 'verdict recorded'),
          ...decided.filter(({ won }) => won),
        ]
        expect(won).toHaveLength(1)
        const late = `already answered by ${row?.decidedBy}`
        const losers = heard.filter(({ answer }) => answer !== 'verdict recorded')
        for (const loser of losers)
          expect(loser).toMatchObject({ state: 'consumed', answer: `${id}: ${late}` })
        for (const one of decided.filter(({ won }) => !won))
          expect(one.approval).toMatchObject({ decided_by: row?.decidedBy, behavior: row?.behavior })
        expect(river.agent.verdicts).toMatchObject([
          { approval: id, behavior: row?.behavior, decidedBy: row?.decidedBy },
        ])
        expect(await decisions(river, id)).toHaveLength(1)
        // No verdict reached the agent as words.
        expect(river.agent.texts()).toEqual(['go'])
      },
    )

    it('[I14.attack-verdicts] of those who may not, none decides, in no form, while one who may does', async () => {
      const { river, id } = await asking(open, { integrations })
      const strangers = ['mallory', 'ANNA', 'anna ', 'аnna', 'owner', 'operator', '__proto__', 'constructor']
      const tried = SURFACES.flatMap((integration) =>
        strangers.flatMap((who) => {
          const person = river.person('anna', who, { integration })
          const verdict = { kind: 'verdict', approval: id, behavior: 'allow' } as const
          const tap = {
            kind: 'tap',
            messageId: `t-${who}-${integration}`,
            on: 'm1',
            value: `allow:${id}`,
          } as const
          return [person.says(`yes ${id}`), person.taps('Allow'), person.sends(verdict), person.sends(tap)]
        }),
      )
      const outcomes = await Promise.all(tried)
      await river.settle()
      expect(outcomes.filter(({ answer }) => answer === 'verdict recorded')).toEqual([])
      expect(outcomes.filter(({ reason }) => reason === 'verdict')).toEqual([])
      expect([await state(river, id), river.agent.verdicts]).toEqual(['pending', []])
      expect(await river.person('bert').says(`no ${id}`)).toMatchObject({ answer: 'verdict recorded' })
      await river.settle()
      expect(river.agent.verdicts).toMatchObject([{ behavior: 'deny', decidedBy: 'bert' }])
    })

    it('[I14.pending-ids] whoever is no approver hears the same of every id: pending, decided, and never given', async () => {
      const { river, id: decided } = await asking(open, { agent: { window: 9 } })
      await river.person('anna').says(`no ${decided}`)
      const [delivery] = river.agent.deliveries
      if (!delivery) throw new Error('not delivered')
      river.agent.script = () => {}
      const pending = (await river.agent.ask(delivery, { ...RUN, input: 'another' })).id ?? ''
      await river.settle()
      const before = river.agent.texts().length
      const group = { chat: 'group' } as const
      const heard = async (id: string) => {
        const tap = (value: string, who = river.person('bert')) =>
          who.sends({ kind: 'tap', messageId: value, on: 'm1', value })
        const all = [
          await river.person('bert').says(`yes ${id}`),
          await river.person('bert').says(`  N ${id.toUpperCase()} `),
          await river.person('g', 'bert', group).says(`yes ${id}`),
          await tap(`allow:${id}`),
          await tap(`deny:${id}`),
          await tap(`show:${id}`),
          await tap(`show:${id}`, river.person('g', 'mallory', group)),
        ]
        return all.map(({ state, reason, answer, retryAfterMs }) => [state, reason, answer, retryAfterMs])
      }
      const never = await heard('zzzzz')
      expect(never.map(([state, reason]) => reason ?? state)).toEqual([
        ...['queued', 'queued', 'group_not_listed'],
        ...['not_approver', 'not_approver', 'not_approver', 'group_not_listed'],
      ])
      expect(await heard(pending)).toEqual(never)
      expect(await heard(decided)).toEqual(never)
      await river.settle()
      expect(await state(river, pending)).toBe('pending')
      // Each sentence is the agent's, and nothing but its own answers comes back.
      expect(river.agent.texts().slice(before)).toHaveLength(6)
      expect(river.platform.texts('bert').filter((text) => /already|no longer|recorded/.test(text))).toEqual(
        [],
      )
    })

    it('[I14.attack-verdicts] a name of one place is nobody in another', async () => {
      const { river, id } = await asking(open, {
        integrations: [
          testIntegration('chat', { access: { ...OPEN, approvers: ['anna'] } }),
          testIntegration('second', { access: { ...OPEN, approvers: ['bert'] } }),
        ],
      })
      const foreign = [
        river.person('x', 'anna', { integration: 'second' }).says(`yes ${id}`),
        river.person('x', 'bert', { integration: 'chat' }).says(`yes ${id}`),
        river.person('g', 'bert', { integration: 'chat', chat: 'group' }).says(`yes ${id}`),
      ]
      const outcomes = await Promise.all(foreign)
      for (const outcome of outcomes) expect(outcome.reason).not.toBe('verdict')
      expect(await state(river, id)).toBe('pending')
    })

    it('[I14.attack-verdicts] replayed and forged: old taps, other ids and other spellings decide nothing', async () => {
      const { river, id } = await asking(open, { integrations })
      const anna = river.person('anna')
      await anna.says(`no ${id}`, { messageId: 'v1' })
      await river.settle()
      // A second question; what decided the first, sent again, must not reach it.
      const [delivery] = river.agent.deliveries
      if (!delivery) throw new Error('not delivered')
      const next = (await river.agent.ask(delivery, { ...RUN, input: 'rm -rf /' })).id ?? ''
      await river.settle()
      const [one, two] = await Promise.all([
        anna.says(`no ${id}`, { messageId: 'v1' }),
        anna.sends({ kind: 'tap', messageId: 't1', on: 'm1', value: `allow:${id}` }),
      ])
      expect([one.duplicate, two.reason]).toEqual([true, expect.not.stringMatching(/^verdict$/)])
      const forged = [
        ...[
          `${next.slice(0, 4)}`,
          `${next}x`,
          ` ${next} ${id}`,
          `${next}\u200b`,
          `${next};${id}`,
          `../${next}`,
        ],
        ...[next.split('').reverse().join(''), 'undefined', 'null', '%', '_____', "' OR 1=1 --", '{"id":1}'],
      ].filter((text) => text !== next)
      for (const [at, text] of forged.entries()) {
        const outcomes = [
          await anna.says(`yes ${text}`),
          await anna.sends({ kind: 'verdict', approval: text, behavior: 'allow' }),
          await anna.sends({ kind: 'tap', messageId: `f${at}`, on: 'm1', value: `allow:${text}` }),
        ]
        for (const { reason } of outcomes) expect([text, reason]).not.toEqual([text, 'verdict'])
        await expect(river.operator().decide(text, 'allow', 'op', 'api')).rejects.toMatchObject({
          code: 'not_found',
        })
      }
      await river.settle()
      expect(await state(river, next)).toBe('pending')
      expect(river.agent.verdicts).toMatchObject([{ approval: id, behavior: 'deny' }])
    })
  },
  ['sqlite'],
)
