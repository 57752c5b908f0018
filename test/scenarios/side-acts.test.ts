// Acts beside the conversation (reactions, edits of prompts) give way and are given up soon; and a row is `sending` only
// while its bytes leave.
import { expect, it } from 'vitest'
import type { SendRequest } from '../../src/contract/index.ts'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River } from './river.ts'

const CHAT = testIntegration('chat', { access: { ...OPEN, approvers: ['anna'] }, ackReaction: '👀' })
const RUN = { toolName: 'Bash', description: 'List files', input: 'ls -la' }
const MINUTE = 60_000

describeRiver('side acts', (open) => {
  const rows = async (river: River, kind: string) =>
    (await river.store().sends({ limit: 50, oldestFirst: true })).filter((row) => row.op?.kind === kind)
  const isSide = ({ op, cause }: SendRequest) =>
    op.kind === 'react' || (op.kind === 'edit' && cause === 'notice')

  it.each([
    ['asked to wait for an hour', { kind: 'busy', retryAfterMs: 3_600_000 }],
    ['away', { kind: 'unavailable' }],
    ['refused', { kind: 'rejected' }],
    ['never answered', { kind: 'hang' }],
  ] as const)(
    '[I14.side-acts-give-way] a reaction that is %s holds up neither the answer nor a prompt',
    async (_how, fault) => {
      const river = await open({ integrations: [CHAT], agents: [testAgent('demo', ['chat'])] })
      river.platform.failBy((request) => (isSide(request) ? fault : null))
      river.agent.script = async (delivery, agent) => {
        await agent.ask(delivery, RUN)
        await agent.say(delivery, 'done')
      }
      await river.person('anna').says('go', { messageId: 'm-1' })
      await river.settle()
      const [prompt] = await rows(river, 'prompt')
      const [answer] = await rows(river, 'text')
      expect([prompt?.state, answer?.state]).toEqual(['sent', 'sent'])
      river.platform.release()
    },
  )

  it('[I14.side-acts-given-up] a reaction that keeps failing is given up within a minute', async () => {
    const river = await open({ integrations: [CHAT], agents: [testAgent('demo', ['chat'])] })
    river.platform.failBy((request) => (isSide(request) ? { kind: 'unavailable' } : null))
    await river.person('anna').says('go', { messageId: 'm-1' })
    await river.settle()
    await river.pass(MINUTE)
    expect(await rows(river, 'react')).toMatchObject([{ state: 'failed', reason: 'given_up' }])
  })

  it('[I14.side-acts-given-up] what a platform asks to be put off for longer is given up at once', async () => {
    const river = await open({ integrations: [CHAT], agents: [testAgent('demo', ['chat'])] })
    river.platform.failBy((request) => (isSide(request) ? { kind: 'busy', retryAfterMs: 900_000 } : null))
    await river.person('anna').says('go', { messageId: 'm-1' })
    await river.settle()
    expect(await rows(river, 'react')).toMatchObject([{ state: 'failed', reason: 'given_up' }])
  })

  it('[I14.side-acts-given-up] the edit of a decided prompt is tried for five minutes, and nothing waits for it', async () => {
    const river = await open({ integrations: [CHAT], agents: [testAgent('demo', ['chat'])] })
    let id: string | null = null
    river.agent.script = async (delivery, agent) => {
      id = (await agent.ask(delivery, RUN)).id
    }
    river.platform.failBy((request) => (isSide(request) ? { kind: 'unavailable' } : null))
    await river.person('anna').says('go')
    await river.settle()
    await river.person('anna').says(`yes ${id}`)
    await river.settle()
    expect(await rows(river, 'edit')).toMatchObject([{ state: 'queued' }])
    const [delivery] = river.agent.deliveries
    if (delivery) await river.agent.say(delivery, 'done')
    await river.settle()
    expect(river.platform.texts('anna').at(-1)).toBe('done')
    await river.pass(5 * MINUTE)
    expect(await rows(river, 'edit')).toMatchObject([{ state: 'failed', reason: 'given_up' }])
  })

  it('[I14.paced-is-queued] [I14.no-needless-note] what waits for the platform’s pace is queued, and after a kill nothing carries a note', async () => {
    const river = await open({
      platform: { paceMs: 1_000, abilities: { idempotentSend: false } },
      integrations: [testIntegration('chat')],
      agents: [testAgent('demo', ['chat'])],
    })
    river.agent.script = async (delivery, agent) => {
      for (const part of ['a', 'b']) await agent.say(delivery, part)
      await agent.answer(delivery, 'c')
    }
    await river.person('anna').says('go')
    await river.settle()
    const states = async () => (await rows(river, 'text')).map(({ state }) => state)
    expect(await states()).toEqual(['sent', 'queued', 'queued'])
    await river.restart()
    await river.pass(20_000)
    expect(await states()).toEqual(['sent', 'sent', 'sent'])
    expect(river.platform.texts('anna')).toEqual(['a', 'b', 'c'])
  })

  it('[I14.paced-is-queued] what the platform asked to put off is queued, and after a kill nothing carries a note', async () => {
    const river = await open({
      platform: { abilities: { idempotentSend: false } },
      integrations: [testIntegration('chat')],
      agents: [testAgent('demo', ['chat'])],
    })
    river.platform.failNext([{ kind: 'busy', retryAfterMs: 30_000 }])
    await river.person('anna').says('go')
    await river.settle()
    expect(await rows(river, 'text')).toMatchObject([{ state: 'queued', reason: 'platform_busy' }])
    await river.restart()
    await river.pass(45_000)
    expect(river.platform.texts('anna')).toEqual(['re: go'])
  })
})
