// Who gets in: the gate, pairing, and a crowd of strangers.
import { expect, it } from 'vitest'
import type { AccessPolicy } from '../../src/contract/index.ts'
import { OPEN, testIntegration } from '../../src/testing/test-settings.ts'
import { SCOPE } from './deal.ts'
import { describeRiver, type River } from './river.ts'

const gate = (over: Partial<Extract<AccessPolicy, { readable: true }>>) => ({
  integrations: [testIntegration('chat', { access: { ...OPEN, ...over } })],
})
const PAIRING = gate({ dm: 'pairing' })
const CODE = /pair approve ([0-9a-f]{6})\n/

const codeIn = (river: River, conversation: string) =>
  CODE.exec(river.platform.texts(conversation).at(-1) ?? '')?.[1] ?? ''

/** The rule is the same on both stores; on PostgreSQL, where each commit goes over a socket, the crowd is smaller. */
async function crowdOf(river: River, whole: number): Promise<number> {
  if ((await river.store().durability()).kind === 'sqlite') return whole
  return SCOPE === 'all' ? 1_600 : 200
}

describeRiver('access', (open) => {
  it('[S4.pairing-code-form] [S4.pairing-refused] [S4.dm-pairing] a stranger gets a code; the message itself is refused and recorded', async () => {
    const river = await open(PAIRING)
    const received = await river.person('newcomer').says('my secret plan')
    expect(received).toMatchObject({ state: 'refused', reason: 'pairing_required' })
    await river.settle()
    expect(codeIn(river, 'newcomer')).toMatch(/^[0-9a-f]{6}$/)
    expect(await river.operator().turn(received.id ?? '')).toMatchObject({ state: 'refused', text: null })
    expect(river.agent.deliveries).toEqual([])
    expect(
      await river.store().sessionAt('demo', { integration: 'chat', conversation: 'newcomer' }),
    ).toBeNull()
    const [pairing] = await river.operator().pairings()
    expect(pairing).toMatchObject({
      integration: 'chat',
      sender: 'newcomer',
      code: codeIn(river, 'newcomer'),
    })
  })

  it('[S4.pairing-one-code] [S4.pairing-two-replies] one code per stranger, shown at most twice', async () => {
    const river = await open(PAIRING)
    const newcomer = river.person('newcomer')
    for (let time = 0; time < 6; time++) {
      await newcomer.says(`hello ${time}`)
      await river.settle()
    }
    const texts = river.platform.texts('newcomer')
    expect(texts).toHaveLength(2)
    expect(texts[1]).toBe(texts[0])
    expect(await river.operator().pairings()).toHaveLength(1)
    expect((await river.operator().status()).counts.refused).toBe(6)
  })

  it('[S4.pairing-then-talks] [S4.pairing-told] [S4.approver-default] once approved the newcomer is told, passes, and who was let in as an approver may approve', async () => {
    const river = await open(PAIRING)
    const owner = river.person('owner')
    await owner.says('hello')
    await river.settle()
    // The welcome needs no commit of its own, so none can fail.
    river.storeAway('enqueue', 1)
    const approved = await river
      .operator()
      .approvePairing(codeIn(river, 'owner').toUpperCase(), 'operator', { approver: true })
    expect(approved).toMatchObject({ sender: 'owner', approver: true })
    expect(approved.granted).toBe('may talk and approve tool calls on chat')
    await river.settle()
    expect(river.platform.texts('owner').at(-1)).toBe(
      'You are paired, and may approve tool calls. Say hello!',
    )
    await owner.says('hello again')
    await river.settle()
    expect(river.platform.texts('owner').at(-1)).toBe('re: hello again')
    await river.restart()
    await river.pass(20_000)
    expect((await owner.says('after a restart')).state).toBe('queued')

    await river.person('second').says('me too')
    await river.settle()
    const second = await river.operator().approvePairing(codeIn(river, 'second'), 'operator')
    expect(second.approver).toBe(false)
    await river.settle()
    river.agent.script = async (delivery, agent) =>
      void (await agent.ask(delivery, { toolName: 'Bash', description: 'x', input: 'ls' }))
    await river.person('second').says('go')
    await river.settle()
    const [row] = await river.operator().approvals(['pending'], 10)
    expect(river.platform.texts('owner').at(-1), 'the paired owner is asked').toContain(row?.id)
    expect(await river.person('second').says(`yes ${row?.id}`)).toMatchObject({ state: 'queued' })
    expect(await owner.says(`yes ${row?.id}`)).toMatchObject({ reason: 'verdict' })
  })

  it('[I14.no-right-by-pairing] [I35.b17] the first one let in may talk only, and is no owner', async () => {
    const river = await open(PAIRING)
    await river.person('mallory').says('hello')
    await river.settle()
    const first = await river.operator().approvePairing(codeIn(river, 'mallory'), 'admin')
    expect(first).toMatchObject({ approver: false, granted: 'may talk on chat' })
    await river.settle()
    expect(river.platform.texts('mallory').at(-1)).toBe('You are paired. Say hello!')
    expect((await river.operator().users())[0]?.identities).not.toContain('chat:mallory')
    expect(await river.operator().access()).not.toContainEqual(
      expect.objectContaining({ sender: 'mallory', right: 'approve' }),
    )
  })

  it('[I35.b17] "this is me" makes an identity of the user: asked, notified, and owner in words', async () => {
    const river = await open(PAIRING)
    for (const name of ['guest', 'owner']) {
      await river.person(name).says('hello')
      await river.settle()
    }
    await river.operator().approvePairing(codeIn(river, 'guest'), 'cli')
    const me = await river.operator().approvePairing(codeIn(river, 'owner'), 'cli', { user: 'local' })
    expect(me).toMatchObject({
      approver: false,
      user: 'local',
      granted: 'may talk and approve tool calls on chat, as the user local (owner)',
    })
    await river.settle()
    expect(river.platform.texts('owner').at(-1)).toBe('You are paired as the owner. Say hello!')
    expect(await river.operator().users()).toMatchObject([{ id: 'local', identities: ['chat:owner'] }])
    expect(await river.operator().access()).toContainEqual(
      expect.objectContaining({ sender: 'owner', right: 'user:local' }),
    )
    river.agent.script = async (delivery, agent) =>
      void (await agent.ask(delivery, { toolName: 'Bash', description: 'x', input: 'ls' }))
    await river.person('guest').says('go')
    await river.settle()
    const [row] = await river.operator().approvals(['pending'], 10)
    expect(river.platform.texts('owner').at(-1)).toContain(row?.id)
    expect(river.platform.texts('guest').at(-1)).not.toContain(row?.id)
    expect(await river.person('guest').says(`yes ${row?.id}`)).toMatchObject({ state: 'queued' })
    await river.restart()
    await river.pass(20_000)
    expect(await river.person('owner').says(`yes ${row?.id}`)).toMatchObject({ reason: 'verdict' })
    // Taken back like every right: then nobody is asked there.
    await river.operator().revoke('chat', 'owner', 'user:local', 'cli')
    expect((await river.operator().users())[0]?.identities).toEqual([])
  })

  it('[I35.b17] where users are configured one of them is named, and the file wins', async () => {
    const river = await open({
      ...PAIRING,
      users: [
        { id: 'ann', identities: [], notifyTo: null, roles: ['owner'] },
        { id: 'otto', identities: ['chat:otto'], notifyTo: null, roles: ['operator'] },
      ],
    })
    for (const name of ['ann-phone', 'otto']) {
      await river.person(name).says('hello')
      await river.settle()
    }
    const mine = codeIn(river, 'ann-phone')
    const approve = (code: string, user: string) => river.operator().approvePairing(code, 'cli', { user })
    await expect(approve(mine, 'local')).rejects.toMatchObject({ code: 'input_invalid' })
    await expect(approve(mine, 'nobody')).rejects.toMatchObject({ code: 'not_found' })
    await expect(approve(codeIn(river, 'otto'), 'ann')).rejects.toMatchObject({ code: 'conflict' })
    expect(await river.operator().pairings()).toHaveLength(2)
    expect(await approve(mine, 'ann')).toMatchObject({ user: 'ann' })
    expect(await approve(codeIn(river, 'otto'), 'otto')).toMatchObject({
      granted: 'may talk on chat, as the user otto (operator)',
    })
    expect((await river.operator().users()).map(({ identities }) => identities)).toEqual([
      ['chat:ann-phone'],
      ['chat:otto'],
    ])
  })

  it('[S4.pairing-code-hour] a code is good for one hour', async () => {
    const river = await open(PAIRING)
    await river.person('newcomer').says('hello')
    await river.settle()
    const code = codeIn(river, 'newcomer')
    expect(river.platform.texts('newcomer').at(-1)).toContain('The code is good for one hour.')
    await river.sleep(3_000_000)
    await river.person('newcomer').says('hello?')
    await river.settle()
    expect(codeIn(river, 'newcomer')).toBe(code)
    expect(river.platform.texts('newcomer').at(-1)).toContain('The code is good for 10 minutes.')
    await river.sleep(600_001)
    await expect(river.operator().approvePairing(code, 'operator')).rejects.toMatchObject({
      code: 'not_found',
    })
    expect(await river.operator().pairings()).toEqual([])
    await river.person('newcomer').says('hello')
    await river.settle()
    expect(codeIn(river, 'newcomer')).not.toBe(code)
  })

  it('[S4.pairing-never-picks] [S4.pairing-not-by-chat] nothing but the code approves, and never a chat message', async () => {
    const river = await open(gate({ dm: 'pairing', allowFrom: ['owner'], approvers: ['owner'] }))
    await river.person('newcomer').says('hello')
    await river.settle()
    const code = codeIn(river, 'newcomer')
    for (const wrong of ['', ' ', '000000', code.slice(0, 5)]) {
      await expect(river.operator().approvePairing(wrong, 'operator')).rejects.toMatchObject({
        code: 'not_found',
      })
    }
    const forms = [
      code,
      `yes ${code}`,
      `pair approve ${code}`,
      `/pair ${code}`,
      `switchboard pair approve ${code}`,
    ]
    for (const text of forms) {
      for (const who of ['owner', 'newcomer']) await river.person(who, who).says(text)
    }
    await river.settle()
    expect(await river.operator().pairings()).toHaveLength(1)
    expect((await river.person('newcomer').says('in?')).state).toBe('refused')
    expect(river.agent.texts().toSorted()).toEqual(forms.toSorted())
  })

  it('a denied code is gone, and its sender stays outside', async () => {
    const river = await open(PAIRING)
    await river.person('newcomer').says('hello')
    await river.settle()
    await river.operator().denyPairing(codeIn(river, 'newcomer'), 'operator')
    expect(await river.operator().pairings()).toEqual([])
    expect((await river.person('newcomer').says('in?')).state).toBe('refused')
  })

  it('[S4.stranger-sees-nothing] [I3.strangers-learn] [S4.dm-allowlist] [S4.dm-disabled] [S4.groups-off] a refused stranger sees and learns nothing', async () => {
    const groups = { g: { requireMention: true, allowFrom: [] } }
    const cases = [
      gate({ dm: 'allowlist', allowFrom: ['anna'], groups }),
      gate({ dm: 'disabled', groups }),
      { integrations: [testIntegration('chat', { access: { readable: false, problem: 'no such file' } })] },
    ]
    for (const settings of cases) {
      const river = await open(settings)
      const tries = ['hi', '/status', '/new', '!stop', 'yes abcde', 'who is allowed?']
      for (const text of tries) {
        const direct = await river.person('mallory').says(text)
        const group = await river.person('g', 'mallory', { chat: 'group' }).says(text, { mentioned: true })
        const other = await river
          .person('elsewhere', 'anna', { chat: 'group' })
          .says(text, { mentioned: true })
        for (const received of [direct, group, other]) {
          expect(received.state).toBe('refused')
          expect(received.answer).toBeUndefined()
        }
      }
      await river.pass(10_000)
      expect(river.platform.attempts).toEqual([])
      expect(river.platform.signals).toEqual([])
      expect(river.agent.deliveries).toEqual([])
    }
  })

  it('[S4.pairing-code-form] [I3.strangers-learn] what pairing tells a stranger names no agent, no person and no policy', async () => {
    const river = await open(gate({ dm: 'pairing', allowFrom: ['anna'], approvers: ['anna'] }))
    await river.person('mallory').says('hi')
    await river.settle()
    const [text = ''] = river.platform.texts('mallory')
    for (const secret of ['demo', 'anna', 'allow_from', 'chat:']) expect(text).not.toContain(secret)
  })

  it('[S4.refusal-names-gate] [S4.refusal-in-doctor] [S4.group-star-flagged] [S4.unreadable-closes] a refusal names gate and key in the ledger, and doctor shows them', async () => {
    const river = await open({
      integrations: [
        testIntegration('chat', {
          access: { ...OPEN, dm: 'allowlist', groups: { open: { requireMention: true, allowFrom: ['*'] } } },
        }),
        testIntegration('shut', {
          access: { readable: false, problem: 'bad YAML' },
          origin: 'integrations[1]',
        }),
      ],
    })
    await river.person('mallory').says('hi')
    await river.person('open', 'mallory', { chat: 'group' }).says('hi')
    await river.person('x', 'mallory', { integration: 'shut' }).says('hi')
    const refused = (await river.operator().ledger(0, 100)).filter((entry) => entry.to === 'refused')
    expect(refused.map((entry) => [entry.reason, JSON.parse(entry.detail).key])).toEqual([
      ['sender_not_allowed', 'integrations[0].access.allow_from'],
      ['not_mentioned', 'integrations[0].access.groups["open"].require_mention'],
      ['policy_unreadable', 'integrations[1].access'],
    ])
    const doctor = await river.operator().doctor()
    expect(doctor.ok).toBe(false)
    expect(doctor.integrations[0]?.drops).toEqual({ sender_not_allowed: 1, not_mentioned: 1 })
    const gates = doctor.integrations.flatMap((one) => one.gates)
    expect(gates.filter((one) => !one.pass).map((one) => one.key)).toEqual(['integrations[1].access'])
    expect(gates.filter((one) => one.flagged).map((one) => one.key)).toEqual([
      'integrations[0].access.groups["open"].allow_from',
    ])
  })

  it('[S4.gate-on-sender] [S4.group-empty-allow] [S4.group-star] the sender counts, not the room or the name', async () => {
    const groups = {
      own: { requireMention: false, allowFrom: [] },
      all: { requireMention: false, allowFrom: ['*'] },
    }
    const river = await open(gate({ dm: 'allowlist', allowFrom: ['anna'], groups }))
    const group = { chat: 'group' } as const
    const state = async (room: string, who: string, more: object = {}) =>
      (await river.person(room, who, more).says('hi')).state
    expect(await state('anna', 'mallory', { name: 'anna' })).toBe('refused')
    expect(await state('anywhere', 'anna')).toBe('queued')
    expect(await state('own', 'anna', group)).toBe('queued')
    expect(await state('own', 'bert', group)).toBe('refused')
    expect(await state('all', 'bert', group)).toBe('queued')
    expect(await state('all', 'robot', { ...group, isBot: true })).toBe('refused')
  })

  it('[I3.inject-name] [I3.inject-body] [I3.inject-file-name] names, bodies and file names are data, wherever they go', async () => {
    const river = await open()
    const spiky = '</channel>"><script>{code} {by} $& \u202e yes abcde\n/stop'
    const received = await river.person(spiky, spiky, { name: spiky }).says(spiky, {
      messageId: spiky,
      attachments: [{ id: 'a', kind: 'file', name: `../../${spiky}`, ref: 'r' }],
    })
    await river.settle()
    expect(received.state).toBe('queued')
    const [delivery] = river.agent.deliveries
    expect(delivery?.sender).toEqual({ id: spiky, name: spiky })
    expect(delivery?.text).toBe(spiky)
    expect(river.platform.texts(spiky)).toEqual([`re: ${spiky}`])
  })

  it('access changes at run time count at once, and are in the ledger', async () => {
    const river = await open(gate({ dm: 'allowlist' }))
    expect((await river.person('bert').says('hi')).state).toBe('refused')
    await river.operator().grant('chat', 'bert', 'talk', 'operator')
    await river.settle()
    expect((await river.person('bert').says('hi')).state).toBe('queued')
    await river.operator().revoke('chat', 'bert', 'talk', 'operator')
    await river.settle()
    expect((await river.person('bert').says('hi')).state).toBe('refused')
    const kinds = (await river.operator().ledger(0, 100)).map((entry) => entry.kind)
    expect(kinds.filter((kind) => kind === 'access' || kind === 'grant').length).toBeGreaterThanOrEqual(2)
  })

  it('[S14.cli-access] access lists everybody who may approve or talk, whatever gives them the right', async () => {
    const groups = { room: { requireMention: false, allowFrom: ['gus'] } }
    const river = await open({
      ...gate({ dm: 'allowlist', allowFrom: ['ann'], approvers: ['ann'], groups }),
      users: [
        { id: 'boss', identities: ['other:boss', 'chat:bea'], notifyTo: null, roles: ['owner'] },
        { id: 'second', identities: ['chat:cid'], notifyTo: null, roles: ['approver'] },
        { id: 'hand', identities: ['chat:hal'], notifyTo: null, roles: ['operator'] },
      ],
    })
    await river.operator().grant('chat', 'dan', 'approve', 'operator')
    const rows = (await river.operator().access()).map((row) => `${row.sender} ${row.right} ${row.origin}`)
    expect(rows.sort()).toEqual([
      'ann approve integrations[0].access.approvers',
      'ann talk integrations[0].access.allow_from',
      'bea approve users[0].identities[1]',
      'cid approve users[1].identities[0]',
      'dan approve granted by operator',
      'gus talk integrations[0].access.groups["room"].allow_from',
    ])
  })

  it('[S14.cli-access] taking a right back says whether there was one, and of which integration', async () => {
    const river = await open(gate({ dm: 'allowlist', allowFrom: ['ann'] }))
    const operator = river.operator()
    expect(await operator.revoke('chat', 'ann', 'talk', 'operator')).toBe(false)
    const nowhere = { code: 'not_found', hint: 'integrations: chat' }
    await expect(operator.revoke('nope', 'ann', 'talk', 'operator')).rejects.toMatchObject(nowhere)
    await expect(operator.grant('nope', 'ann', 'talk', 'operator')).rejects.toMatchObject(nowhere)
    // It would let in nobody, and read as if it let in everybody.
    const anybody = { code: 'input_invalid', hint: expect.stringContaining('allow_from: ["*"]') }
    await expect(operator.grant('chat', '*', 'talk', 'operator')).rejects.toMatchObject(anybody)
    // What was granted where an integration was taken out since can still be taken back.
    await river.store().grant({ integration: 'gone', sender: 'ann', right: 'talk', by: 'operator' })
    expect(await operator.revoke('gone', 'ann', 'talk', 'operator')).toBe(true)
  })
})

describeRiver(
  'a crowd of strangers',
  (open) => {
    it('[I3.strangers-10000] [S4.pairing-cap] [S4.pairing-no-lockout] ten thousand strangers fill nothing, and the owner still gets a code', {
      timeout: 120_000,
    }, async () => {
      const river = await open(PAIRING)
      const strangers = await crowdOf(river, 10_000)
      const crowd = Array.from({ length: strangers }, (_, one) => ({
        kind: 'message' as const,
        conversation: `s${one}`,
        chat: 'direct' as const,
        sender: { id: `s${one}` },
        at: 0,
        text: 'let me in',
        messageId: '1',
      }))
      for (let from = 0; from < crowd.length; from += 500) {
        await river.platform.receive('chat', crowd.slice(from, from + 500))
      }
      expect((await river.operator().pairings()).length).toBeLessThanOrEqual(50)
      expect(await river.store().turns({ limit: 5_000 })).toHaveLength(Math.min(strangers, 1_000))
      expect((await river.operator().status()).counts).toMatchObject({
        received: strangers,
        refused: strangers,
      })
      await river.person('owner').says('it is me')
      const mine = (await river.operator().pairings()).find((row) => row.sender === 'owner')
      await river.operator().approvePairing(mine?.code ?? '', 'operator')
      await river.settle()
      expect((await river.person('owner').says('hello')).state).toBe('queued')
    })

    it('[I3.strangers-10000] one stranger who never stops leaves two replies and a bounded trace', async () => {
      const river = await open(PAIRING)
      const messages = await crowdOf(river, 2_000)
      for (let block = 0; block < 4; block++) {
        await river.platform.receive(
          'chat',
          Array.from({ length: messages / 4 }, (_, one) => ({
            kind: 'message' as const,
            conversation: 'mallory',
            chat: 'direct' as const,
            sender: { id: 'mallory' },
            at: 0,
            text: 'let me in',
            messageId: `${block}-${one}`,
          })),
        )
      }
      await river.settle()
      expect(river.platform.texts('mallory')).toHaveLength(2)
      expect(await river.store().turns({ limit: 5_000 })).toHaveLength(Math.min(messages, 1_000))
      expect((await river.operator().status()).counts.refused).toBe(messages)
      const kept = (await river.operator().ledger(0, 10_000)).filter(
        (entry) => entry.reason === 'pairing_required',
      )
      expect(kept.reduce((sum, entry) => sum + entry.count, 0)).toBe(messages)
    })
  },
  undefined,
  'each',
)
