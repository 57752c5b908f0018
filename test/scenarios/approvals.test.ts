// Approvals: a tool call waits for a person. One row, one winner, and every surface hears how it ended.
import { expect, it } from 'vitest'
import type { Delivery } from '../../src/contract/index.ts'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { asking, CHAT, headlines, RUN, state } from './asking.ts'
import { describeRiver } from './river.ts'

describeRiver('approvals', (open) => {
  it('[S10.states] [S10.text-verdict] [S10.surface-chat] [S10.whole-input] [S10.id-form] [S10.prompts-edited] [S2.verdict-not-to-model] [F7.verdict-not-to-model] yes decides, the agent hears it, and the prompt is edited', async () => {
    const { river, id } = await asking(open)
    expect(id).toMatch(/^[a-km-z]{5}$/)
    const [prompt] = river.platform.arrived
    expect(prompt?.op).toMatchObject({ kind: 'prompt', approval: id })
    expect(river.platform.texts('anna')[0]).toContain('npm test -- --all')
    expect(river.platform.texts('anna')[0]).toContain(`Reply "yes ${id}" or "no ${id}"`)
    expect((await river.operator().status()).approvals.pending).toBe(1)
    expect(await river.person('anna').says(`yes ${id}`)).toMatchObject({
      state: 'consumed',
      reason: 'verdict',
      answer: 'verdict recorded',
    })
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ approval: id, behavior: 'allow', decidedBy: 'anna' }])
    expect(await state(river, id)).toBe('relayed')
    expect(headlines(river.platform.shown('anna'))).toEqual([`Bash (${id}): allowed by anna`])
    expect(river.agent.texts()).toEqual(['go'])
  })

  it.each([
    ['Yes ABCDE', 'allow'],
    [' y abcde ', 'allow'],
    ['YES abcde', 'allow'],
    ['no abcde', 'deny'],
    ['N ABCDE', 'deny'],
  ])(
    '[F7.verdict-upper] [F7.verdict-spaces] [F7.verdict-no] [S10.text-verdict] %j is a verdict',
    async (form, behavior) => {
      const { river, id } = await asking(open)
      const upper = form.includes('ABCDE')
      await river.person('anna').says(form.replace(/abcde/i, upper ? id.toUpperCase() : id))
      await river.settle()
      expect(river.agent.verdicts).toMatchObject([{ behavior }])
    },
  )

  it('[S10.ordinary-chat] [S10.unknown-id-chat] [F7.chat-to-model] [F7.relay-wrong-id] [F7.verdict-bare] [F7.verdict-six] [F7.verdict-has-l] [F7.verdict-trailing] what is not exactly a verdict is chat and reaches the agent', async () => {
    const { river, id } = await asking(open, { agent: { window: 20 } })
    const wrong = id === 'zzzzz' ? 'yyyyy' : 'zzzzz'
    const chat = [
      'yes',
      `yes ${id}f`,
      'yes alice',
      `yes ${id} please`,
      'no sorry',
      `yes ${wrong}`,
      `ok ${id}`,
    ]
    for (const text of chat) expect((await river.person('anna').says(text)).state).toBe('queued')
    river.agent.script = () => undefined
    await river.settle()
    expect(river.agent.texts()).toEqual(['go', ...chat])
    expect(await state(river, id)).toBe('pending')
  })

  it('[S10.buttons] a tap decides', async () => {
    const { river, id } = await asking(open)
    expect(await river.person('anna').taps('Deny')).toMatchObject({ state: 'consumed', reason: 'verdict' })
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ approval: id, behavior: 'deny', cause: 'person' }])
    expect(headlines(river.platform.shown('anna'))).toEqual([`Bash (${id}): denied by anna`])
  })

  it('[I18.tap-keeps-command] what was decided keeps the command, and names the person beside the id', async () => {
    const { river, id } = await asking(open)
    const anna = river.person('anna', 'anna', { name: 'Anna \u202eB.' })
    expect(await anna.taps('Allow')).toMatchObject({ state: 'consumed' })
    await river.settle()
    const [shown = ''] = river.platform.shown('anna')
    expect(shown).toBe(`Bash (${id}): allowed by Anna [U+202E]B. (anna)\n\n\`\`\`\n${RUN.input}\n\`\`\``)
  })

  it('[S10.prompts-edited] where the platform cannot edit, a line says how it ended', async () => {
    const { river, id } = await asking(open, { platform: { abilities: { edits: false, buttons: false } } })
    await river.person('anna').says(`no ${id}`)
    await river.settle()
    expect(river.platform.texts('anna').at(-1)).toBe(`Bash (${id}): denied by anna`)
  })

  it('[S10.expiry-denies] [F7.relay-timeout] [I3.verdict-expired] nobody answers: it expires, that denies, and a later yes is told so', async () => {
    const { river, id } = await asking(open)
    await river.sleep(599_000)
    expect(await state(river, id)).toBe('pending')
    await river.pass(2_000)
    expect(await state(river, id)).toBe('expired')
    expect(river.agent.verdicts).toMatchObject([{ behavior: 'deny', cause: 'expired' }])
    expect(headlines(river.platform.shown('anna'))).toEqual([`Bash (${id}): expired, denied`])
    expect(await river.person('anna').says(`yes ${id}`)).toMatchObject({ reason: 'verdict_late' })
    await river.settle()
    expect(river.platform.texts('anna').at(-1)).toBe(`${id}: expired`)
    expect(river.agent.verdicts).toHaveLength(1)
  })

  it('[S10.expiry-denies] an approval that ran out while the gateway was down is denied when it is back', async () => {
    const { river, id } = await asking(open)
    await river.sleep(1_000)
    await river.restart()
    await river.sleep(700_000)
    await river.pass(20_000)
    expect(await state(river, id)).toBe('expired')
    expect(river.agent.verdicts.at(-1)).toMatchObject({ behavior: 'deny', cause: 'expired' })
  })

  it('[S10.unreachable-denied] [I35.b23] with nobody to ask it is denied at once, with the reason', async () => {
    const { river, id } = await asking(open, { integrations: [testIntegration('chat')] })
    expect(river.agent.verdicts).toMatchObject([{ approval: id, behavior: 'deny', cause: 'unreachable' }])
    expect(await river.store().approval(id)).toMatchObject({ state: 'relayed', cause: 'unreachable' })
    expect(river.platform.texts('anna')).toEqual([])
  })

  it('[S10.unreachable-denied] somebody at the console is somebody', async () => {
    const { river, id } = await asking(open, { integrations: [testIntegration('chat')], watched: true })
    expect(await state(river, id)).toBe('pending')
    await river.operator().decide(id, 'allow', 'operator', 'console')
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ behavior: 'allow', decidedBy: 'operator' }])
  })

  it('[S10.surface-dm] [S10.already-answered] [F7.relay-local-wins] [F7.relay-remote-wins] [S10.audit] all surfaces ask, one decides, all hear who', async () => {
    const { river, id } = await asking(open, {
      integrations: [
        testIntegration('chat', { access: { ...OPEN, approvers: ['anna', 'bert'] } }),
        testIntegration('other', { access: { ...OPEN, approvers: ['cleo'] } }),
      ],
    })
    const surfaces = [
      ['anna', 'chat'],
      ['bert', 'chat'],
      ['cleo', 'other'],
    ] as const
    for (const [who, where] of surfaces) expect(river.platform.texts(who, where)).toHaveLength(1)
    await river.person('cleo', 'cleo', { integration: 'other' }).taps('Allow')
    await river.settle()
    for (const [who, where] of surfaces) {
      expect(headlines(river.platform.shown(who, where))).toEqual([`Bash (${id}): allowed by cleo`])
    }
    await river.person('bert').says(`no ${id}`)
    await river.person('anna').taps('Deny')
    await river.settle()
    expect(river.platform.texts('bert').at(-1)).toBe(`${id}: already answered by cleo`)
    expect(river.platform.texts('anna').at(-1)).toBe(`${id}: already answered by cleo`)
    expect(await river.operator().decide(id, 'deny', 'operator', 'cli')).toMatchObject({
      won: false,
      approval: { decided_by: 'cleo', decided_via: 'other', behavior: 'allow' },
    })
    expect(river.agent.verdicts).toHaveLength(1)
    const ledger = await river.operator().ledger(0, 1_000)
    const decided = ledger.find((entry) => entry.kind === 'approval' && entry.to === 'decided')
    expect(decided?.at).toBeGreaterThan(0)
    expect(JSON.parse(decided?.detail ?? '{}')).toMatchObject({ by: 'cleo', via: 'other', behavior: 'allow' })
  })

  it('[S10.one-winner] [I3.verdict-two-at-once] of two verdicts at once one counts, and the other is told', async () => {
    const access = { ...OPEN, approvers: ['anna', 'bert'] }
    const { river, id } = await asking(open, { integrations: [testIntegration('chat', { access })] })
    const both = await Promise.all([
      river.person('anna').says(`yes ${id}`),
      river.person('bert').says(`no ${id}`),
    ])
    await river.settle()
    const row = await river.store().approval(id)
    const loser = row?.decidedBy === 'anna' ? 'bert' : 'anna'
    // The one that lost may have looked before or after the other was decided: it is told the same.
    expect(both.map((one) => one.answer)).toContain('verdict recorded')
    expect(both.map((one) => one.answer)).toContain(`${id}: already answered by ${row?.decidedBy}`)
    expect(river.platform.texts(loser)).toContain(`${id}: already answered by ${row?.decidedBy}`)
    expect(river.agent.verdicts).toMatchObject([{ decidedBy: row?.decidedBy, behavior: row?.behavior }])
  })

  it('[F7.relay-duplicate] [I3.verdict-decided] [S10.decided-id-answered] [F7.relay-late] a redelivered, repeated or late verdict changes nothing', async () => {
    const { river, id } = await asking(open)
    const anna = river.person('anna')
    await anna.says(`yes ${id}`, { messageId: 'v1' })
    expect((await anna.says(`yes ${id}`, { messageId: 'v1' })).duplicate).toBe(true)
    await river.settle()
    await anna.says(`no ${id}`)
    await river.settle()
    expect(river.platform.texts('anna').at(-1)).toBe(`${id}: already answered by anna`)
    expect(river.agent.verdicts).toMatchObject([{ behavior: 'allow' }])
    await river.sleep(24 * 3_600_000 + 60_000)
    expect((await anna.says(`no ${id}`)).state, 'a sentence again after a day').toBe('queued')
  })

  it('[S10.survives-restart] [S10.verdict-from-row] [F7.relay-register-first] a pending approval survives a crash and is decided afterwards', async () => {
    const { river, id } = await asking(open)
    expect(river.platform.texts('anna')).toHaveLength(1)
    await river.restart()
    await river.pass(20_000)
    expect(await state(river, id)).toBe('pending')
    expect(river.agent.deliveries.map((one) => one.repeat)).toEqual([false, true])
    expect(await river.operator().approvals(null, 10), 'the same call is the same approval').toHaveLength(1)
    expect(river.platform.texts('anna'), 'and it is not asked twice').toHaveLength(1)
    await river.person('anna').says(`yes ${id}`)
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ approval: id, behavior: 'allow' }])
  })

  it('[S10.survives-restart] a decision that a crash cut off before it was passed on is passed on', async () => {
    const { river, id } = await asking(open, {
      agent: { redelivery: { handed: 'again', seen: 'resume', afterTimeout: false } },
    })
    river.storeAway('settleApproval', 1_000)
    river.agent.detach()
    await river.person('anna').says(`yes ${id}`)
    await river.settle()
    await river.restart()
    expect(await state(river, id), 'it waits for the turn').toBe('decided')
    river.agent.attach()
    await river.pass(20_000)
    expect(river.agent.verdicts.at(-1), 'the resumed turn asks again and hears it').toMatchObject({
      approval: id,
      behavior: 'allow',
    })
    expect(await state(river, id)).toBe('relayed')
    expect(await river.operator().approvals(null, 10)).toHaveLength(1)
  })

  it('[S10.one-call] [S10.input-hash] allow is for one call: the same call asks again, in the same turn too', async () => {
    const { river, id } = await asking(open)
    await river.person('anna').says(`yes ${id}`)
    await river.pass(1_000)
    const [delivery] = river.agent.deliveries as [Delivery]
    const again = await river.agent.ask(delivery, RUN)
    expect(again.id).not.toBe(id)
    expect(await state(river, again.id ?? '')).toBe('pending')
    const other = await river.agent.ask(delivery, { ...RUN, input: 'rm -rf build' })
    await river.settle()
    const rows = await river.operator().approvals(['pending'], 10)
    expect(new Set(rows.map((row) => row.id))).toEqual(new Set([again.id, other.id]))
    expect(new Set(rows.map((row) => row.input_hash)).size).toBe(2)
    expect(river.agent.verdicts).toHaveLength(1)
  })

  it('[S10.id-unique] a host id that collides with a pending one is replaced', async () => {
    const river = await open({ integrations: [CHAT], agent: { window: 5 } })
    const ids: (string | null)[] = []
    river.agent.script = async (delivery, agent) => {
      const asked = await agent.ask(delivery, { ...RUN, input: delivery.text, requestId: 'abcde' })
      ids.push(asked.id)
    }
    await river.person('anna').says('1')
    await river.person('anna').says('2')
    await river.settle()
    expect(ids[0]).toBe('abcde')
    expect(ids[1]).toMatch(/^[a-km-z]{5}$/)
    expect(ids[1]).not.toBe('abcde')
    await river.person('anna').says(`yes ${ids[1]}`)
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([
      { approval: ids[1], ask: { input: '2', requestId: 'abcde' } },
    ])
  })

  it('[S10.allowed-after-write] [S10.agent-gone] an agent that is gone: decided, but never "allowed"', async () => {
    const { river, id } = await asking(open, { agent: { verdict: 'gone' } })
    await river.person('anna').says(`yes ${id}`)
    await river.settle()
    expect(await state(river, id)).toBe('undeliverable')
    expect(headlines(river.platform.shown('anna'))).toEqual([
      `Bash (${id}): decided (allowed by anna), but the agent is gone`,
    ])
  })

  it('a host with a dialog of its own hears no verdict on expiry, and a decision reads "passed on"', async () => {
    const { river, id } = await asking(open, { agent: { holdsDecisions: false } })
    await river.sleep(601_000)
    expect(await state(river, id)).toBe('expired')
    expect(river.agent.verdicts).toEqual([])
    const [delivery] = river.agent.deliveries as [Delivery]
    const second = await river.agent.ask(delivery, { ...RUN, input: 'another' })
    await river.settle()
    await river.person('anna').says(`yes ${second.id}`)
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ behavior: 'allow' }])
    expect(headlines(river.platform.shown('anna')).at(-1)).toBe(
      `Bash (${second.id}): passed on (allowed by anna)`,
    )
  })

  it('[F7.relay-emit-failure] a surface that cannot be reached does not hold up the others', async () => {
    const river = await open({
      integrations: [CHAT, testIntegration('other', { access: { ...OPEN, approvers: ['cleo'] } })],
    })
    river.platform.failNext([{ kind: 'rejected' }, { kind: 'hang' }], 'anna')
    river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, RUN))
    await river.person('anna').says('go')
    await river.settle()
    await river.person('cleo', 'cleo', { integration: 'other' }).taps('Allow')
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ behavior: 'allow', decidedBy: 'cleo' }])
  })

  it('[S10.states] /stop withdraws what waits for a person, and says so', async () => {
    const { river, id } = await asking(open)
    await river.person('anna').says('/stop')
    await river.settle()
    expect(await state(river, id)).toBe('withdrawn')
    expect(headlines(river.platform.shown('anna'))).toContain(`Bash (${id}): no longer asked`)
    expect(river.agent.cancelled).toHaveLength(1)
    await river.person('anna').says(`yes ${id}`)
    await river.settle()
    expect(river.platform.texts('anna').at(-1)).toBe(`${id}: no longer asked`)
    expect(river.agent.verdicts).toEqual([])
  })

  it('[I3.verdict-non-approver] [S4.two-rights] [S10.id-not-authority] who may talk may not therefore decide', async () => {
    const { river, id } = await asking(open)
    expect(await river.person('bert').says(`yes ${id}`)).toMatchObject({ state: 'queued' })
    expect(await river.person('bert').says('hello')).toMatchObject({ state: 'queued' })
    await river.settle()
    expect(await state(river, id)).toBe('pending')
    expect(river.agent.verdicts).toEqual([])
    expect(river.platform.texts('bert').join()).not.toContain(id)
  })

  it('[S4.group-verdict] [I3.verdict-group-member] in a group only an approver counts, without a mention', async () => {
    const groups = { g: { requireMention: true, allowFrom: ['*'] } }
    const access = { ...OPEN, approvers: ['anna'], groups }
    const river = await open({ integrations: [testIntegration('chat', { access })] })
    river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, RUN))
    const group = { chat: 'group' } as const
    await river.person('g', 'anna', group).says('go', { mentioned: true })
    await river.settle()
    const [row] = await river.operator().approvals(null, 10)
    const id = row?.id ?? ''
    expect(river.platform.texts('g')[0]).toContain(id)
    expect(await river.person('g', 'bert', group).says(`yes ${id}`)).toMatchObject({
      reason: 'not_mentioned',
    })
    expect(await state(river, id)).toBe('pending')
    expect(await river.person('g', 'anna', group).says(`yes ${id}`)).toMatchObject({ reason: 'verdict' })
  })

  it('[S10.surface-chat] the chat of somebody who is no approver does not show the prompt; the approver does', async () => {
    const river = await open({ integrations: [CHAT] })
    river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, RUN))
    await river.person('bert').says('go')
    await river.settle()
    expect(river.platform.texts('bert')).toEqual([])
    expect(river.platform.texts('anna')[0]).toContain('npm test')
  })

  it('[I3.verdict-other-agent] [F7.relay-other-agent] an approver of one agent cannot decide for another', async () => {
    const river = await open({
      integrations: [CHAT, testIntegration('other', { access: { ...OPEN, approvers: ['cleo'] } })],
      agents: [testAgent('demo', ['chat']), testAgent('kate', ['other'])],
    })
    river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, RUN))
    await river.person('anna').says('go')
    await river.settle()
    const [row] = await river.operator().approvals(null, 10)
    const id = row?.id ?? ''
    const cleo = river.person('cleo', 'cleo', { integration: 'other' })
    expect(await cleo.says(`yes ${id}`), 'there it is a sentence').toMatchObject({ state: 'queued' })
    await river.settle()
    expect(await state(river, id)).toBe('pending')
  })

  it('[S10.cut-safely] [I3.inject-tool-input] a long or spiky input is cut with a way to see it all, and cannot forge the frame', async () => {
    const river = await open({ integrations: [CHAT], platform: { textLimit: 1_000 } })
    const input = `\`\`\`\nReply "yes aaaaa"\n\`\`\`${'😀'.repeat(3_000)}`
    river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, { ...RUN, input }))
    await river.person('anna').says('go')
    await river.settle()
    const [text = ''] = river.platform.texts('anna')
    const [row] = await river.operator().approvals(null, 10)
    expect([...text].length).toBeLessThanOrEqual(1_000)
    expect(text).toMatch(/more characters: Show all\)/)
    expect(text).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/)
    expect(text).toContain('````\n```\nReply')
    expect(text.trimEnd().split('\n').at(-1)).toBe(`Reply "yes ${row?.id}" or "no ${row?.id}"`)
    expect(row?.input).toBe(input)
  })

  it('[S2.verdict-before-limit] an approver over the limit can still decide', async () => {
    const { river, id } = await asking(open, { tunables: { senderLimit: { rps: 0.001, burst: 1 } } })
    expect((await river.person('anna').says('hello')).reason).toBe('rate_limited')
    expect((await river.person('anna').says(`no ${id}`)).reason).toBe('verdict')
  })
})
