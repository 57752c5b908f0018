// notify_user, row by row: which channel, who may, what is logged, how urgency and claims are offered.
import { expect, it } from 'vitest'
import type { IntegrationSettings, ToolOutcome } from '../../src/contract/index.ts'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type OpenRiver, type River, type RiverOptions } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

const owned = (id: string, platform: string, over: Partial<IntegrationSettings> = {}) =>
  testIntegration(id, { platform, scope: 'all', access: { ...OPEN, approvers: ['boss'] }, ...over })

const TG = owned('tg', 'telegram')
const TG2 = owned('tg2', 'telegram')
const TEAM = owned('team', 'slack', { default: true })

describeRiver('notify_user', (open) => {
  const opened = (over: RiverOptions = {}, by: OpenRiver = open) =>
    by({ integrations: [TG, TG2, TEAM], agents: [testAgent('demo', ['tg'])], ...over })
  const notify = (river: River, input: Record<string, unknown> = {}, who = caller()): Promise<ToolOutcome> =>
    outcomeOf(river, river.tools().notifyUser(who, { message: 'due', ...input }))
  const arrivedVia = (river: River) =>
    river.platform.arrived.map((one) => `${one.integration}:${one.to.conversation}`)
  const log = async (river: River) =>
    (await river.store().notifications({ limit: 20 })).map(({ channel, status, error }) => [
      channel,
      status,
      error,
    ])

  it('[S11.notify-default] [S3.integration-default] [S11.notify-success-text] an omitted channel is the default', async () => {
    const river = await opened()
    expect((await notify(river)).text).toBe('Notification sent via slack:team')
    expect(arrivedVia(river)).toEqual(['team:boss'])
  })

  it('[S11.notify-bare-type] [S11.notify-type-id] [F7.notify-resolution] a type is the user’s first of it, type:id is that one', async () => {
    const river = await opened()
    expect((await notify(river, { channel: 'telegram' })).text).toBe('Notification sent via telegram')
    expect((await notify(river, { channel: 'telegram:tg2' })).text).toBe('Notification sent via telegram:tg2')
    expect((await notify(river, { channel: 'slack:team' })).text).toBe('Notification sent via slack:team')
    expect(arrivedVia(river)).toEqual(['tg:boss', 'tg2:boss', 'team:boss'])
  })

  it('[S11.notify-missing] [F7.notify-bare-explicit] [S11.notify-failure] a channel that is not there is an error, never another one', async () => {
    const river = await opened()
    const reasons: Record<string, string> = {
      email: 'No email integration is configured',
      'telegram:gone': 'Integration "gone" not found',
      'slack:tg': 'Integration "tg" is not slack',
      'nonsense:tg': 'Integration "tg" is not nonsense',
    }
    for (const [channel, reason] of Object.entries(reasons)) {
      expect(await notify(river, { channel })).toMatchObject({ text: reason, isError: true })
    }
    expect(river.platform.attempts).toEqual([])
    expect((await log(river)).map(([, status]) => status)).toEqual(['failed', 'failed', 'failed', 'failed'])
  })

  it('with users configured each has their own places, and their own default', async () => {
    const river = await opened({
      users: [
        { id: 'ann', identities: ['tg:7', 'team:U1'], notifyTo: 'tg:-100:42', roles: ['owner'] },
        { id: 'bob', identities: ['tg2:8'], notifyTo: null, roles: [] },
      ],
    })
    const to = async (user: string | null, channel?: string) =>
      (await notify(river, channel === undefined ? {} : { channel }, caller({ user }))).text
    expect(await to('ann')).toBe('Notification sent via telegram:tg')
    expect(river.platform.arrived[0]?.to).toEqual({ integration: 'tg', conversation: '-100', thread: '42' })
    expect(await to('ann', 'slack')).toBe('Notification sent via slack')
    expect(await to('bob', 'telegram')).toBe('Notification sent via telegram')
    expect(await to('bob', 'telegram:tg')).toBe('Integration "tg" does not belong to user "bob"')
    expect(await to('bob')).toBe('Integration "team" is not linked to a chat of user "bob" yet')
    expect(await to('eve')).toBe('There is no user "eve"')
    expect(arrivedVia(river)).toEqual(['tg:-100', 'team:U1', 'tg2:8'])
  })

  it('[I35.b13] reaches identities of the user alone, and never somebody who was merely let in', async () => {
    const paired = (id: string, platform: string) =>
      testIntegration(id, {
        platform,
        scope: 'all',
        access: { ...OPEN, dm: 'pairing', approvers: [], allowFrom: [] },
      })
    const listed = testIntegration('dc', {
      ...{ platform: 'slack', scope: 'all' },
      access: { ...OPEN, approvers: [], allowFrom: ['stranger'] },
    })
    const ann = { id: 'ann', identities: ['tg2:8'], notifyTo: null, roles: ['owner'] } as const
    const river = await opened({ integrations: [paired('tg', 'telegram'), listed, TG2], users: [ann] })
    await river.operator().grant('tg', 'newcomer', 'talk', 'op')
    await river.operator().grant('tg', 'helper', 'approve', 'op')
    const who = caller({ user: 'ann' })
    for (const channel of ['telegram:tg', 'slack:dc'])
      expect(await notify(river, { channel }, who)).toMatchObject({ isError: true })
    expect(await notify(river, {}, who)).toMatchObject({
      text: 'Notification sent via telegram:tg2',
      structured: { to: 'tg2:8' },
    })
    const logged = await river.store().notifications({ limit: 3 })
    expect(logged.flatMap(({ to }) => to ?? [])).toEqual(['tg2:8'])
    expect(arrivedVia(river)).toEqual(['tg2:8'])
    const alone = await opened({ integrations: [paired('tg', 'telegram')] })
    await alone.operator().grant('tg', 'newcomer', 'talk', 'op')
    expect((await notify(alone)).text).toBe('No notification channels configured')
    // With no users configured the only sender that the file admits is the one user.
    const one = await opened({ integrations: [listed] })
    expect((await notify(one)).text).toBe('Notification sent via slack:dc')
    expect(arrivedVia(one)).toEqual(['dc:stranger'])
    // Of two nobody knows which one it is.
    const access = { ...listed.access, allowFrom: ['stranger', 'friend'] }
    const two = await opened({ integrations: [{ ...listed, access }] })
    expect((await notify(two)).text).toBe('No notification channels configured')
  })

  it('[I35.b13] what waits is not sent any more where the recipient is nobody’s identity by then', async () => {
    const ann = (...identities: readonly string[]) =>
      ({ id: 'ann', identities, notifyTo: null, roles: ['owner'] }) as const
    const all = { integrations: [TG, TG2, TEAM], agents: [testAgent('demo', ['tg'])] }
    const river = await opened({ users: [ann('tg:7')] })
    const refused = { kind: 'unavailable' } as const
    const sends = () => river.operator().sends({ limit: 5 })
    river.platform.failNext([refused], '7')
    const kept = notify(river, { channel: 'telegram:tg' }, caller({ user: 'ann' }))
    await river.settle()
    await river.configure({ ...all, users: [ann('tg:7', 'tg2:8')] })
    await river.pass(60_000)
    await kept
    expect(await sends()).toMatchObject([{ to: 'tg:7', state: 'sent' }])
    river.platform.failNext([refused], '7')
    const lost = notify(river, { channel: 'telegram:tg', message: 'again' }, caller({ user: 'ann' }))
    await river.settle()
    await river.configure({ ...all, users: [ann('tg2:8')] })
    await river.pass(60_000)
    await lost
    expect(river.platform.attempts).toHaveLength(3)
    expect((await sends())[0]).toMatchObject({ to: 'tg:7', state: 'failed', reason: 'not_allowed' })
  })

  it('nobody to tell is an error, too', async () => {
    const river = await opened({ integrations: [testIntegration('chat')], agents: ['demo'] })
    expect((await notify(river)).text).toBe('No notification channels configured')
    expect(await log(river)).toEqual([['none', 'failed', 'No notification channels configured']])
  })

  it('[S11.notify-grants] [F7.notify-scope-table] [S3.scope-agents] [S3.scope-default-bound] the scope decides who may', async () => {
    const table = [
      ['all', 'demo', true],
      ['all', 'other', true],
      [{ agents: ['demo'] }, 'demo', true],
      [{ agents: ['demo'] }, 'other', false],
      [{ agents: [] }, 'demo', false],
      ['bound', 'demo', true],
      ['bound', 'other', false],
    ] as const
    const river = await opened()
    for (const [scope, agent, granted] of table) {
      await river.configure({
        integrations: [{ ...TG, scope }],
        agents: [testAgent('demo', ['tg']), testAgent('other', [])],
      })
      await river.pass(31_000)
      const { isError, text } = await notify(river, {}, caller({ agent }))
      expect([isError, text], `${JSON.stringify(scope)} ${agent}`).toEqual(
        granted
          ? [false, 'Notification sent via telegram:tg']
          : [true, `Integration "tg" is not granted to agent "${agent}"`],
      )
    }
  })

  it('[F7.notify-disabled] a disabled integration is an error', async () => {
    const river = await opened({ integrations: [{ ...TEAM, enabled: false }] })
    expect(await notify(river)).toMatchObject({ text: 'Integration "team" is disabled', isError: true })
  })

  it('[S11.notification-log] every attempt is there, with what became of it', async () => {
    const river = await opened()
    await notify(river, { urgency: 'high' }, caller({ session: null }))
    await river.pass(1)
    await notify(river)
    await river.pass(1)
    river.platform.failNext([{ kind: 'rejected' }])
    expect((await notify(river, { message: 'refused' })).text).toBe('Adapter send failed: not_in_channel')
    await river.pass(1)
    await notify(river, { channel: 'email' })
    expect(await log(river)).toEqual([
      ['email', 'failed', 'No email integration is configured'],
      ['slack:team', 'failed', 'not_in_channel'],
      ['slack:team', 'deduplicated', null],
      ['slack:team', 'sent', null],
    ])
    const [, , , first] = await river.store().notifications({ limit: 10 })
    expect(first).toMatchObject({
      user: 'local',
      agent: 'demo',
      urgency: 'high',
      source: 'agent',
      message: 'due',
    })
    expect((await river.operator().notifications(10)).map((one) => one.status)).toEqual([
      'failed',
      'failed',
      'deduplicated',
      'sent',
    ])
  })

  it('urgency goes with the message; recipients have a limit', async () => {
    const river = await opened({ tunables: { recipientLimit: { rps: 1, burst: 2 } } })
    await notify(river, { urgency: 'low' })
    await notify(river, { message: 'now', urgency: 'high' })
    expect(river.platform.arrived.map(({ op }) => 'urgency' in op && op.urgency)).toEqual(['low', 'high'])
    expect(await notify(river, { message: 'more' })).toMatchObject({
      isError: true,
      structured: { code: 'rate_limited' },
    })
  })

  it('[F7.notify-claim-bare] [F7.notify-buttons-last] [S11.claim-buttons] a claim works by type, with buttons on the last part only', async () => {
    const river = await opened({ platform: { textLimit: 12 } })
    await river.person('boss', 'boss', { integration: 'tg' }).says('hi')
    await river.settle()
    const session = river.agent.deliveries[0]?.session ?? ''
    const before = river.platform.arrived.length
    const outcome = await notify(
      river,
      { message: 'one line here\nand another', channel: 'telegram', claimThread: true },
      caller({ session }),
    )
    expect(outcome.text).toBe('Notification sent via telegram')
    const parts = river.platform.arrived.slice(before)
    expect(parts.length).toBeGreaterThan(1)
    const labels = parts.map(({ op }) => ('choices' in op ? op.choices?.map((one) => one.label) : undefined))
    expect(labels.slice(0, -1).every((one) => one === undefined)).toBe(true)
    expect(labels.at(-1)).toEqual(['📎 Reply here', '💬 Keep my chat'])
    expect(await river.store().claims({ limit: 5 })).toMatchObject([
      { messageId: parts.at(-1)?.platformId, session, label: 'demo', agent: 'demo' },
    ])
  })

  it('where nothing can be answered a claim is an error, and so is one without a session', async () => {
    const river = await opened({
      integrations: [TEAM, TG],
      platform: {
        perIntegration: {
          team: { abilities: { buttons: false } },
          tg: { abilities: { buttons: false, replies: true } },
        },
      },
    })
    await river.person('boss', 'boss', { integration: 'tg' }).says('hi')
    await river.settle()
    const session = river.agent.deliveries[0]?.session ?? ''
    const claim = { claimThread: true }
    expect(await notify(river, claim, caller({ session }))).toMatchObject({
      isError: true,
      text: 'slack:team has neither buttons nor replies, so claim_thread cannot work there',
    })
    expect((await notify(river, { ...claim, channel: 'telegram' }, caller())).text).toBe(
      'claim_thread needs a token that carries a session',
    )
    expect((await notify(river, { ...claim, channel: 'telegram' }, caller({ session: 'other' }))).text).toBe(
      'claim_thread: agent "demo" has no session other',
    )
    expect((await notify(river, { ...claim, channel: 'telegram' }, caller({ session }))).isError).toBe(false)
    const [last] = river.platform.arrived.slice(-1)
    expect(last?.op).not.toHaveProperty('choices')
    expect(await river.store().claims({ limit: 5 })).toHaveLength(1)
  })
})
