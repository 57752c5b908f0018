// send_message, row by row: allowlist, choice of integration, equal content, and the truth about every outcome.
import { expect, it } from 'vitest'
import type { ToolOutcome } from '../../src/contract/index.ts'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type OpenRiver, type River } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

const SLACK = testIntegration('team', { platform: 'slack', scope: 'all' })
const CHAT = testIntegration('chat')
const allow = (...messagingAllow: string[]) => testAgent('demo', ['chat'], { messagingAllow })

const opened = (open: OpenRiver, ...entries: string[]) =>
  open({
    integrations: [CHAT, SLACK],
    agents: [allow(...entries), testAgent('other', [], { messagingAllow: ['slack:SECRET'] })],
  })

describeRiver('send_message', (open) => {
  const send = (river: River, over: Record<string, string> = {}, who = caller()) =>
    outcomeOf(
      river,
      river.tools().sendMessage(who, { platform: 'slack', target: 'C0123', body: 'hello', ...over }),
    )
  const shape = ({ text, isError, structured }: ToolOutcome) => ({ text, isError, code: structured.code })
  const texts = (river: River, target = 'C0123') => river.platform.texts(target, 'team')

  it('[S11.result-sent] [S11.result-text] [S11.result-structured] says sent with the platform’s ids', async () => {
    const river = await opened(open, 'slack:C0123')
    const outcome = await send(river)
    expect(outcome).toEqual({
      text: 'Message sent to slack:C0123',
      isError: false,
      structured: {
        ok: true,
        status: 'sent',
        platform_ids: [river.platform.arrived[0]?.platformId],
        outbox_id: expect.stringMatching(/^o_/),
        code: null,
        error: null,
      },
    })
    expect(texts(river)).toEqual(['hello'])
  })

  it('[S11.send-errors] [F7.send-not-allowed] [S11.allow-nothing] [S11.denial-no-leak] denies what is not listed, and names no other agent’s targets', async () => {
    const river = await opened(open, 'slack:C0', 'telegram:-100')
    const denied = await send(river)
    expect(shape(denied)).toEqual({
      text: `Target "slack:C0123" is not in the personality's allowed messaging targets. Allowed: slack:C0, telegram:-100`,
      isError: true,
      code: 'input_invalid',
    })
    expect(denied.text).not.toContain('SECRET')
    const nobody = await send(river, {}, caller({ agent: 'nobody' }))
    expect(shape(nobody)).toEqual({
      text: `Target "slack:C0123" is not in the personality's allowed messaging targets. Allowed: none`,
      isError: true,
      code: 'input_invalid',
    })
    expect(river.platform.attempts).toEqual([])
  })

  it('[F7.send-absent] [F7.send-no-personality] an agent with no list, and a call with no agent, are denied', async () => {
    const river = await opened(open)
    expect(shape(await send(river)).text).toMatch(/Allowed: none$/)
    expect(shape(await send(river, {}, caller({ agent: '' }))).text).toMatch(/Allowed: none$/)
  })

  it('[S11.allow-entries] [F7.send-star] platform:target, platform:* and * allow what they say', async () => {
    for (const [entries, target, ok] of [
      [['slack:*'], 'C9', true],
      [['*'], 'C9', true],
      [['telegram:*'], 'C9', false],
      [['slack:c9'], 'C9', false],
      [['slack:C'], 'C9', false],
    ] as const) {
      const river = await opened(open, ...entries)
      expect((await send(river, { target })).isError, entries.join()).toBe(!ok)
    }
  })

  it('[F7.send-missing-field] every field is required', async () => {
    const river = await opened(open, '*')
    for (const missing of [{ platform: '' }, { target: '' }, { body: '' }, { body: '  \n' }]) {
      expect(shape(await send(river, missing))).toEqual({
        text: 'platform, target, and body are required',
        isError: true,
        code: 'input_invalid',
      })
    }
    expect((await send(river, { body: 'x'.repeat(1_048_577) })).text).toMatch(/^body is larger than/)
  })

  it('[F7.send-no-adapter] an unknown platform has no adapter', async () => {
    const river = await opened(open, '*')
    expect(shape(await send(river, { platform: 'discord' }))).toEqual({
      text: 'No adapter registered for platform "discord"',
      isError: true,
      code: 'execution_failed',
    })
  })

  it('[I14.platform-unknown] an integration of a platform that is not there says so, whoever sends', async () => {
    const river = await open({
      integrations: [
        testIntegration('irc', { platform: 'irc', scope: 'all', access: { ...OPEN, approvers: ['boss'] } }),
      ],
      agents: [allow('*')],
    })
    const text = 'Integration "irc" cannot send: this version has no platform "irc"'
    expect(shape(await send(river, { platform: 'irc' }))).toEqual({
      text,
      isError: true,
      code: 'execution_failed',
    })
    expect(await outcomeOf(river, river.tools().notifyUser(caller(), { message: 'due' }))).toMatchObject({
      isError: true,
      text,
    })
    await expect(river.operator().order({ to: 'irc:C1', text: 'hi' }, 'op')).rejects.toMatchObject({
      code: 'execution_failed',
      message: text,
    })
    expect((await river.operator().integrations())[0]).toMatchObject({
      link: 'down',
      detail: 'this version has no platform "irc"',
    })
  })

  it('[F7.send-adapter-failed] [S11.result-failed] says why the platform refused', async () => {
    const river = await opened(open, '*')
    river.platform.failNext([{ kind: 'rejected' }])
    const outcome = await send(river)
    expect(shape(outcome)).toMatchObject({ isError: true, code: 'execution_failed' })
    expect(outcome.text).toBe('Adapter send failed: not_in_channel')
    expect(outcome.structured).toMatchObject({ status: 'failed', ok: false, platform_ids: [] })
  })

  it('[S11.result-failed] does not call failed in words what may have arrived', async () => {
    const river = await open({
      integrations: [CHAT, SLACK],
      agents: [allow('*')],
      tunables: { unknownPolicy: 'hold' },
    })
    river.platform.failNext([{ kind: 'unknown', arrived: true }])
    const outcome = await send(river)
    expect(shape(outcome)).toMatchObject({ isError: true, code: 'outcome_unknown' })
    expect(outcome.text).toBe(
      'The message may have arrived, and nothing can tell: the connection broke before the answer',
    )
    expect(outcome.structured).toMatchObject({ status: 'failed', ok: false, platform_ids: [] })
  })

  it('[S11.integration-choice] the turn’s own integration, else the first granted, unless named', async () => {
    const river = await open({
      integrations: [
        testIntegration('foreign', { platform: 'slack', scope: { agents: ['other'] } }),
        testIntegration('off', { platform: 'slack', scope: 'all', enabled: false }),
        testIntegration('first', { platform: 'slack', scope: 'all' }),
        testIntegration('second', { platform: 'slack', scope: { agents: ['demo'] } }),
      ],
      agents: [testAgent('demo', ['second'], { messagingAllow: ['*'] }), 'other'],
    })
    const through = () => river.platform.arrived.map((one) => one.integration)
    await send(river, { body: 'a' })
    await river.person('c', 'p', { integration: 'second' }).says('hi')
    await river.settle()
    const turn = river.agent.deliveries[0]?.turn ?? ''
    const count = through().length
    await send(river, { body: 'b' }, caller({ turn }))
    await send(river, { body: 'c', integration: 'first' }, caller({ turn }))
    expect([through()[0], ...through().slice(count)]).toEqual(['first', 'second', 'first'])
    expect((await send(river, { integration: 'foreign' })).text).toBe(
      'Integration "foreign" is not granted to agent "demo"',
    )
    expect((await send(river, { integration: 'off' })).text).toBe('Integration "off" is disabled')
    expect((await send(river, { integration: 'nowhere' })).text).toBe(
      'Integration "nowhere" is not configured for platform "slack"',
    )
  })

  it('[F7.send-two-targets] [F7.send-dedup] [F7.send-dedup-key] [S11.send-schema] equal text is dropped for the same target and thread only', async () => {
    const river = await opened(open, '*')
    await send(river)
    const again = await send(river)
    expect(again).toMatchObject({ isError: false, structured: { ok: true, status: 'deduplicated' } })
    expect(again.text).toContain('deduplicated')
    await send(river, { target: 'C9' })
    await send(river, { thread: 't1' })
    await send(river, { body: 'other' })
    expect(texts(river)).toEqual(['hello', 'hello', 'other'])
    expect(texts(river, 'C9')).toEqual(['hello'])
  })

  it('[S11.dedup-on-confirm] 30 s from the confirmation: at the limit dropped, a millisecond later sent', async () => {
    const river = await opened(open, '*')
    await send(river)
    const confirmedAt = (await river.store().sends({ limit: 1 }))[0]?.updatedAt ?? 0
    await river.pass(confirmedAt + 30_000 - river.now())
    expect((await send(river)).structured.status).toBe('deduplicated')
    await river.pass(1)
    expect((await send(river)).structured.status).toBe('sent')
    expect(texts(river)).toHaveLength(2)
  })

  it('[S11.failed-retry-at-once] [F7.send-failed-retry] a send that failed hides nothing: the retry is sent', async () => {
    const river = await opened(open, '*')
    river.platform.failNext([{ kind: 'rejected' }])
    expect((await send(river)).isError).toBe(true)
    expect((await send(river)).text).toBe('Message sent to slack:C0123')
    expect(texts(river)).toEqual(['hello'])
  })

  it('[S11.in-flight-one] [F7.send-concurrent] five at once become one message, and all are told its id', async () => {
    const river = await opened(open, '*')
    const call = () =>
      river.tools().sendMessage(caller(), { platform: 'slack', target: 'C0123', body: 'hello' })
    const all = await outcomeOf(river, Promise.all([call(), call(), call(), call(), call()]))
    expect(texts(river)).toEqual(['hello'])
    expect(new Set(all.map((one) => JSON.stringify(one.structured.platform_ids))).size).toBe(1)
    expect(all.every((one) => one.structured.status === 'sent')).toBe(true)
  })

  it('[S11.tool-wait] [S11.result-queued] waits 10 s and no longer, then says queued with an id to ask about', async () => {
    const river = await opened(open, '*')
    river.platform.failNext(
      Array.from({ length: 6 }, () => ({ kind: 'unavailable' as const, retryAfterMs: 5_000 })),
    )
    const began = river.now()
    const outcome = await send(river)
    expect(river.now() - began).toBeGreaterThanOrEqual(10_000)
    expect(river.now() - began).toBeLessThan(11_000)
    expect(outcome).toMatchObject({ isError: false, structured: { ok: true, status: 'queued' } })
    const id = String(outcome.structured.outbox_id)
    expect(outcome.text).toContain(id)
    expect((await river.operator().send(id))?.state).toBe('queued')
    await river.pass(60_000)
    expect((await river.operator().send(id))?.state).toBe('sent')
  })

  it('[S11.idempotency-key] the same key is the same send, whatever the text and however late', async () => {
    const river = await opened(open, '*')
    const keyed = caller({ idempotencyKey: 'toolu_1' })
    const first = await send(river, {}, keyed)
    await river.pass(60_000)
    const again = await send(river, { body: 'changed' }, keyed)
    expect(again.structured.outbox_id).toBe(first.structured.outbox_id)
    expect(texts(river)).toEqual(['hello'])
  })

  it('[S11.order] [S2.out-order-of-steps] each check comes before the next', async () => {
    const river = await opened(open)
    expect(shape(await send(river, { platform: 'discord', body: '' })).text).toMatch(/are required$/)
    expect(shape(await send(river, { platform: 'discord' })).text).toMatch(/^Target "discord:C0123"/)
    await river.configure({ integrations: [CHAT, { ...SLACK, enabled: false }], agents: [allow('*')] })
    await send(river, { platform: 'test', target: 'x' }, caller({ idempotencyKey: 'k' }))
    expect(shape(await send(river, {}, caller({ idempotencyKey: 'k' }))).text).toBe(
      'Integration "team" is disabled',
    )
  })

  it('[S3.recheck-at-send] an entry that was removed meanwhile keeps the message back, with the reason', async () => {
    const river = await opened(open, 'slack:C0123')
    river.platform.failNext([{ kind: 'unavailable' }])
    const call = river.tools().sendMessage(caller(), { platform: 'slack', target: 'C0123', body: 'hello' })
    await river.settle()
    await river.configure({ integrations: [CHAT, SLACK], agents: [allow('slack:C9')] })
    const outcome = await outcomeOf(river, call)
    expect(outcome).toMatchObject({ isError: true, structured: { status: 'failed' } })
    expect(await river.store().sends({ limit: 1 })).toMatchObject([
      { state: 'failed', reason: 'not_allowed' },
    ])
    expect(texts(river)).toEqual([])
  })

  it('[S11.replies-not-dropped] replies with equal text all arrive', async () => {
    const river = await opened(open)
    river.agent.script = async (delivery, agent) => {
      await agent.say(delivery, 'same')
      await agent.say(delivery, 'same')
      await agent.answer(delivery, 'same')
    }
    await river.person('c').says('hi')
    await river.settle()
    expect(river.platform.texts('c')).toEqual(['same', 'same', 'same'])
  })

  it('[S11.parts-resume] a long message that broke in part resumes at the failed part, and so does its repetition', async () => {
    const river = await open({
      platform: { textLimit: 10 },
      integrations: [CHAT, SLACK],
      agents: [allow('*')],
    })
    const body = 'aaaaaaaaa\nbbbbbbbbb\nccccccccc'
    const seen = () => texts(river).map((text) => text.trim()[0])
    const call = () => river.tools().sendMessage(caller(), { platform: 'slack', target: 'C0123', body })
    // The first part is confirmed late, the second is refused for good.
    river.platform.failNext([{ kind: 'hang' }, { kind: 'rejected' }])
    const broken = call()
    await river.settle()
    river.platform.release()
    expect(await outcomeOf(river, broken)).toMatchObject({ isError: true, structured: { status: 'failed' } })
    expect(seen()).toEqual(['a'])
    const failed = await river.store().sends({ states: ['failed'], oldestFirst: true, limit: 5 })
    expect(failed.map((row) => row.part)).toEqual([1, 2])
    // The agent tries again: what was confirmed is not sent a second time.
    river.platform.failNext([{ kind: 'unavailable' }])
    expect((await outcomeOf(river, call())).structured.status).toBe('sent')
    expect(seen()).toEqual(['a', 'b', 'c'])
  })

  it('keeps a platform’s pace in each conversation, and lets the others go on', async () => {
    const river = await open({
      platform: { paceMs: 1_000 },
      integrations: [CHAT, SLACK],
      agents: [allow('*')],
    })
    const order = (target: string, body: string) =>
      river.tools().sendMessage(caller(), { platform: 'slack', target, body })
    const calls = [order('C1', 'a'), order('C1', 'b'), order('C1', 'c'), order('C2', 'd')]
    await river.settle()
    expect([texts(river, 'C1'), texts(river, 'C2')]).toEqual([['a'], ['d']])
    await river.pass(999)
    expect(texts(river, 'C1')).toEqual(['a'])
    await river.pass(1)
    expect(texts(river, 'C1')).toEqual(['a', 'b'])
    await river.pass(1_000)
    const done = await outcomeOf(river, Promise.all(calls))
    expect(done.every((one) => one.structured.status === 'sent')).toBe(true)
  })

  it('[S11.notify-recipient] a loop of an agent does not flood one recipient', async () => {
    const river = await open({
      integrations: [CHAT, SLACK],
      agents: [allow('*')],
      tunables: { recipientLimit: { rps: 1, burst: 3 } },
    })
    for (let n = 0; n < 3; n++) expect((await send(river, { body: `n${n}` })).isError).toBe(false)
    const over = await send(river, { body: 'n3' })
    expect(over).toMatchObject({ isError: true, structured: { code: 'rate_limited' } })
    expect((await send(river, { target: 'C9', body: 'n3' })).isError).toBe(false)
    await river.pass(1_000)
    expect((await send(river, { body: 'n3' })).isError).toBe(false)
  })

  it('[I35.b40] an address that is nobody is refused before anything is queued, by agents and by operators', async () => {
    const web = testIntegration('web', {
      ...{ platform: 'slack', scope: 'all' as const },
      access: { ...OPEN, dm: 'credential', allowFrom: [], approvers: ['guest'] },
    })
    const river = await open({
      integrations: [CHAT, web],
      agents: [testAgent('demo', ['chat', 'web'], { messagingAllow: ['slack:*'] })],
      users: [
        { id: 'ada', identities: ['web:ada-at-home'], notifyTo: null, roles: ['approver'] },
        { id: 'eve', identities: [], notifyTo: 'web:bob', roles: [] },
      ],
      platform: { perIntegration: { web: { residents: ['owner'] } } },
    })
    const order = (to: string) => river.operator().order({ to, text: 'hello', wait_ms: 0 }, 'operator')
    for (const to of ['web:bob', 'web:Owner', 'web:ada-at-work']) {
      await expect(order(to)).rejects.toMatchObject({
        code: 'input_invalid',
        message: expect.stringContaining('is nobody at web'),
      })
      const denied = await send(river, { target: to.slice(4) })
      expect([to, shape(denied)]).toEqual([
        to,
        expect.objectContaining({ isError: true, code: 'input_invalid' }),
      ])
      const reply = await outcomeOf(river, river.tools().reply(caller(), { chatId: to, text: 'hello' }))
      expect([to, shape(reply)]).toEqual([
        to,
        expect.objectContaining({ isError: true, code: 'input_invalid' }),
      ])
    }
    const notify = (user: string) =>
      outcomeOf(river, river.tools().notifyUser(caller({ user }), { message: 'hello' }))
    expect(await notify('eve')).toMatchObject({ isError: true, text: '"bob" is nobody at web' })
    await river.settle()
    expect(await river.store().sends({ limit: 10 })).toEqual([])
    expect(await notify('ada')).toMatchObject({ isError: false })
    // Whoever wrote there is known from then on.
    await river.platform.receive('web', [
      {
        ...{
          kind: 'message',
          conversation: 'bob',
          chat: 'direct',
          sender: { id: 'bob' },
          at: 0,
          messageId: 'b1',
        },
        ...{ text: 'hi', mentioned: true, meta: {} },
      },
    ])
    await river.settle()
    for (const to of ['web:owner', 'web:ada', 'web:ada-at-home', 'web:guest', 'web:bob'])
      expect([to, (await order(to)).ok]).toEqual([to, true])
    expect((await order('chat:anybody')).ok).toBe(true)
  })
})
