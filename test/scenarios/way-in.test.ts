// The way in: what is received, once, with a state and a reason; and what is not.
import { expect, it } from 'vitest'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver } from './river.ts'

describeRiver('the way in', (open) => {
  it('[S2.conservation] [S2.conservation-each] [S11.reply-own-turn] [S2.sent-means-confirmed] a message is answered where it was said, and all is accounted for', async () => {
    const river = await open({ integrations: [testIntegration('chat'), testIntegration('other')] })
    const received = await river.person('anna').says('hello')
    await river.person('bert', 'bert', { integration: 'other' }).says('hi')
    expect(received).toMatchObject({ state: 'queued', reason: null, duplicate: false })
    await river.settle()
    expect(river.agent.texts()).toEqual(['hello', 'hi'])
    expect(river.platform.texts('anna')).toEqual(['re: hello'])
    expect(river.platform.texts('bert', 'other')).toEqual(['re: hi'])
    const status = await river.operator().status()
    expect(status.counts).toMatchObject({ received: 2, answered: 2, queued: 0, handed: 0, seen: 0 })
    expect(status.outbox).toMatchObject({ sent: 2, queued: 0 })
    const [sent] = await river.operator().sends({ integration: 'chat', limit: 10 })
    expect(sent).toMatchObject({ to: 'chat:anna', state: 'sent', turn: received.id })
    expect(sent?.platform_ids).toEqual([river.platform.arrived[0]?.platformId])
  })

  it('[S2.dup-key] [S2.dup-not-counted] a redelivery gets the first answer and is not received again', async () => {
    const river = await open()
    const anna = river.person('anna')
    const first = await anna.says('hello', { messageId: '7' })
    const again = await anna.says('hello', { messageId: '7' })
    expect(again).toMatchObject({ duplicate: true, id: first.id, session: first.session })
    await river.settle()
    const late = await anna.says('hello', { messageId: '7' })
    expect(late).toMatchObject({ duplicate: true, id: first.id, state: 'answered' })
    await river.settle()
    expect(river.agent.texts()).toEqual(['hello'])
    expect((await river.operator().status()).counts.received).toBe(1)
  })

  it('[S2.dup-key] two deliveries of one message in the same breath are one, also after a crash', async () => {
    const river = await open()
    const event = {
      kind: 'message' as const,
      conversation: 'anna',
      chat: 'direct' as const,
      sender: { id: 'anna' },
      at: 0,
      text: 'hello',
      messageId: '7',
    }
    const both = await Promise.all([
      river.platform.receive('chat', [event, event]),
      river.platform.receive('chat', [event]),
    ])
    expect(both.flat().filter((one) => !one.duplicate)).toHaveLength(1)
    expect(new Set(both.flat().map((one) => one.id)).size).toBe(1)
    await river.restart()
    const [after] = await river.platform.receive('chat', [event])
    expect(after).toMatchObject({ duplicate: true, id: both[0]?.[0]?.id })
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['re: hello'])
  })

  it('[S2.dup-per-conversation] [S2.dup-edit-version] [I14.edit-marked] the same id elsewhere, or edited, is another message', async () => {
    const river = await open({ integrations: [testIntegration('chat'), testIntegration('other')] })
    await river.person('anna').says('one', { messageId: '7' })
    await river.person('bert').says('two', { messageId: '7' })
    await river.person('anna', 'anna', { integration: 'other' }).says('three', { messageId: '7' })
    await river.settle()
    const edit = { messageId: '7', kind: 'edit' as const, editVersion: 1 }
    expect((await river.person('anna').says('four', edit)).duplicate).toBe(false)
    expect((await river.person('anna').says('four', edit)).duplicate).toBe(true)
    await river.settle()
    expect(river.agent.texts().toSorted()).toEqual(['four', 'one', 'three', 'two'])
    const edited = river.agent.deliveries.filter(({ meta }) => meta.edited === 'true')
    expect(edited.map(({ text }) => text)).toEqual(['four'])
  })

  it('[I14.key-pairs] an edit that names no version is neither the message itself nor another edit of it', async () => {
    const river = await open()
    const kate = river.person('c1')
    const edit = { messageId: '7', kind: 'edit' as const }
    await kate.says('first', { messageId: '7' })
    await river.settle()
    for (const text of ['second', 'third', 'third']) {
      await kate.says(text, edit)
      await river.settle()
    }
    expect(river.agent.texts()).toEqual(['first', 'second', 'third'])
  })

  it('[S2.no-id-fresh] a message without an id is never taken for a duplicate', async () => {
    const river = await open()
    const one = await river.person('anna').says('hello', { noId: true })
    const two = await river.person('anna').says('hello', { noId: true })
    expect([one.duplicate, two.duplicate]).toEqual([false, false])
    await river.settle()
    expect(river.agent.texts()).toEqual(['hello', 'hello'])
  })

  it('[S2.dup-no-effects] [S2.effects-one-commit] a redelivered command or stranger repeats nothing', async () => {
    const river = await open({
      integrations: [testIntegration('chat', { access: { ...OPEN, dm: 'pairing', allowFrom: ['anna'] } })],
    })
    const anna = river.person('anna')
    await anna.says('hello')
    await river.settle()
    const before = await river.store().sessionAt('demo', { integration: 'chat', conversation: 'anna' })
    await anna.says('/new', { messageId: 'c1' })
    await anna.says('/new', { messageId: 'c1' })
    const stranger = river.person('mallory')
    await stranger.says('hi', { messageId: 's1' })
    await stranger.says('hi', { messageId: 's1' })
    await river.settle()
    const after = await river.store().sessionAt('demo', { integration: 'chat', conversation: 'anna' })
    expect(after?.generation).toBe((before?.generation ?? 0) + 1)
    expect(river.platform.texts('anna')).toHaveLength(2)
    expect(river.platform.texts('mallory')).toHaveLength(1)
    expect((await river.store().pairings())[0]?.replies).toBe(1)
  })

  it('[S2.dup-no-effects] a duplicate spends no token of its sender', async () => {
    const river = await open({ tunables: { senderLimit: { rps: 0.01, burst: 2 } } })
    const anna = river.person('anna')
    for (let time = 0; time < 5; time++) await anna.says('same', { messageId: '1' })
    expect((await anna.says('second')).state).toBe('queued')
    expect(await anna.says('third')).toMatchObject({ state: 'refused', reason: 'rate_limited' })
  })

  it('[S2.in-order-of-steps] [S2.dup-not-counted] a redelivery is one, also of a sender who is over the limit by now', async () => {
    const river = await open({ tunables: { senderLimit: { rps: 0.001, burst: 1 } } })
    const anna = river.person('anna')
    const first = await anna.says('hello', { messageId: '7' })
    const again = await anna.says('hello', { messageId: '7' })
    expect(again).toMatchObject({ duplicate: true, id: first.id, session: first.session })
    expect(again.retryAfterMs).toBeUndefined()
    expect((await anna.says('more')).reason).toBe('rate_limited')
    expect((await river.operator().status()).counts).toMatchObject({ received: 2, refused: 1 })
  })

  it('[S2.in-order-of-steps] commands stand behind the sender limit like any message', async () => {
    const river = await open({ tunables: { senderLimit: { rps: 0.001, burst: 2 } } })
    const anna = river.person('anna')
    expect((await anna.says('/new')).state).toBe('consumed')
    expect((await anna.says('/status')).state).toBe('consumed')
    expect(await anna.says('/new')).toMatchObject({ state: 'refused', reason: 'rate_limited' })
  })

  it('[S2.rate-limited-counted] drops over the sender limit are refused, counted, and told when to come back', async () => {
    const river = await open({ tunables: { senderLimit: { rps: 1, burst: 2 } } })
    const anna = river.person('anna')
    const results = []
    for (let time = 0; time < 6; time++) results.push(await anna.says(`m${time}`))
    expect(results.map((one) => one.reason)).toEqual([null, null, ...Array(4).fill('rate_limited')])
    expect(results[5]?.retryAfterMs).toBeGreaterThan(0)
    expect((await river.person('bert').says('hi')).state).toBe('queued')
    expect((await river.operator().status()).counts).toMatchObject({ received: 7, refused: 4 })
    // Only the one that its sender was told about has a row.
    expect(await river.store().turns({ states: ['refused'], limit: 10 })).toHaveLength(1)
    const { integrations } = await river.operator().doctor()
    expect(integrations[0]?.drops).toEqual({ rate_limited: 4 })
    await river.pass(1_000)
    expect((await anna.says('later')).state).toBe('queued')
  })

  it('[S1.binding-limits] a binding has a limit of its own', async () => {
    const binding = { plugin: 'test', allowedChannelServers: [] }
    const river = await open({
      integrations: [testIntegration('chat'), testIntegration('other')],
      agents: [
        testAgent('demo', [], {
          bindings: [
            { ...binding, instance: 'chat', senderLimit: { rps: 0.1, burst: 1 } },
            { ...binding, instance: 'other' },
          ],
        }),
      ],
    })
    const anna = river.person('anna')
    const there = river.person('anna', 'anna', { integration: 'other' })
    expect((await anna.says('1')).state).toBe('queued')
    expect((await anna.says('2')).reason).toBe('rate_limited')
    for (const text of ['1', '2', '3']) expect((await there.says(text)).state).toBe('queued')
  })

  it('[S2.flood-guard] a flood is refused before its messages are kept, and counted', async () => {
    const river = await open({ tunables: { floodLimit: { rps: 0.001, burst: 3 } } })
    for (let one = 0; one < 10; one++) await river.person('anna').says('hi')
    expect((await river.operator().status()).counts).toMatchObject({ received: 10, refused: 7 })
    // Three came through; of the rest only the one has a row that its sender was told about.
    expect(await river.store().turns({ limit: 100 })).toHaveLength(4)
    const ledger = await river.operator().ledger(0, 1_000)
    const floods = ledger.filter((entry) => entry.reason === 'flood')
    expect(floods.reduce((sum, entry) => sum + entry.count, 0)).toBe(7)
  })

  it('[S2.one-transaction] [F7.session-db-failure] a store that is away gives an error, and nothing half-done', async () => {
    const river = await open({ tunables: { senderLimit: { rps: 0.001, burst: 1 } } })
    river.storeAway('receive', 1)
    await expect(river.person('anna').says('hello', { messageId: '1' })).rejects.toMatchObject({
      code: 'store_unavailable',
    })
    expect(await river.store().turns({ limit: 10 })).toEqual([])
    expect(await river.store().sessionAt('demo', { integration: 'chat', conversation: 'anna' })).toBeNull()
    // Its token was given back, and the platform's second try is no duplicate.
    expect(await river.person('anna').says('hello', { messageId: '1' })).toMatchObject({
      state: 'queued',
      duplicate: false,
    })
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['re: hello'])
  })

  it('[S2.one-transaction] what was not stored because one beside it could not be looked up has spent no token', async () => {
    const river = await open({ tunables: { senderLimit: { rps: 0.001, burst: 3 } } })
    const batch = ['one', 'two', 'yes abcde'].map((text, at) => ({
      ...{ kind: 'message' as const, conversation: 'anna', chat: 'direct' as const, sender: { id: 'anna' } },
      ...{ at: 0, text, messageId: `${at}` },
    }))
    for (let time = 0; time < 3; time++) {
      river.storeAway('approval', 1)
      await expect(river.platform.receive('chat', batch)).rejects.toMatchObject({ code: 'store_unavailable' })
    }
    const kept = await river.platform.receive('chat', batch)
    expect(kept.map(({ state }) => state)).toEqual(['queued', 'queued', 'queued'])
    await river.settle()
    expect(river.agent.texts()).toEqual(['one', 'two', 'yes abcde'])
    expect((await river.person('anna').says('four')).reason).toBe('rate_limited')
  })

  it('[S2.one-transaction] the platform gets its cursor back with what was stored beside it', async () => {
    const river = await open()
    const event = { kind: 'message', conversation: 'anna', chat: 'direct', sender: { id: 'anna' } } as const
    await river.platform.receive('chat', [{ ...event, at: 0, text: 'a', messageId: '1' }], { cursor: '41' })
    river.storeAway('receive', 1)
    await river.platform
      .receive('chat', [{ ...event, at: 0, text: 'b', messageId: '2' }], { cursor: '42' })
      .catch(() => undefined)
    await river.restart()
    expect(river.platform.cursors.get('chat')).toBe('41')
  })

  it('[S6.meta-fields] [S6.meta-strings] [S6.meta-chat-id] [S6.meta-attachments] the agent is told who, where, when and what with', async () => {
    const river = await open()
    await river.person('room 1', 'u1', { name: 'Anna "A" <b>' }).says('look', {
      thread: 't:9',
      messageId: '77',
      replyTo: { messageId: '70' },
      meta: { path: '/x', chat_id: 'forged' },
      attachments: [{ id: 'f1', kind: 'image', name: 'a.png', mime: 'image/png', size: 12, ref: 'r' }],
    })
    await river.settle()
    const delivery = river.agent.deliveries[0]
    expect(delivery?.chatId).toBe('chat:room%201:t%3A9')
    expect(delivery?.meta).toEqual({
      path: '/x',
      chat_id: 'chat:room%201:t%3A9',
      message_id: '77',
      user: 'Anna "A" <b>',
      user_id: 'u1',
      ts: new Date(river.now()).toISOString(),
      platform: 'test',
      integration: 'chat',
      thread_id: 't:9',
      reply_to_message_id: '70',
      attachment_count: '1',
      attachment_kind: 'image',
      attachment_file_id: 'f1',
      attachment_name: 'a.png',
      attachment_mime: 'image/png',
      attachment_size: '12',
    })
  })

  it('[S6.meta-attachments] of several attachments the agent is told all, and no name looks like another', async () => {
    const river = await open()
    const file = { kind: 'file', mime: 'text/plain', size: 2_048, ref: 'r' } as const
    const attachments = [
      { ...file, id: 'f1', name: 'a.txt' },
      { ...file, id: 'f2', name: 'b; c.txt (text/plain, 1KB)]' },
    ]
    await river.person('anna').says('look', { attachments })
    await river.settle()
    expect(river.agent.deliveries[0]?.meta).toMatchObject({
      attachment_count: '2',
      attachments: 'a.txt (text/plain, 2KB); b_ c.txt (text/plain, 1KB)_ (text/plain, 2KB)',
    })
  })

  it('[F7.audit-non-channel] the source of a turn is its platform and integration, and can be asked for', async () => {
    const river = await open()
    await river.person('anna').says('hello')
    await river.settle()
    const found = await river.operator().turns({ source: 'test:chat', limit: 10 })
    expect(found.map((turn) => turn.source)).toEqual(['test:chat'])
    expect(await river.operator().turns({ source: 'channel:chat', limit: 10 })).toEqual([])
  })

  it('[S1.one-connector] one bot serves two agents: each conversation has exactly one', async () => {
    const binding = { plugin: 'test', instance: 'chat', allowedChannelServers: [] }
    const river = await open({
      agents: [
        testAgent('rest', ['chat']),
        testAgent('topic', [], { bindings: [{ ...binding, conversations: ['g/42'] }] }),
        testAgent('room', [], { bindings: [{ ...binding, conversations: ['g'] }] }),
      ],
    })
    await river.person('anna').says('rest')
    await river.person('g', 'anna').says('topic', { thread: '42' })
    await river.person('g', 'anna').says('room', { thread: '43' })
    await river.settle()
    for (const id of ['rest', 'topic', 'room']) expect(river.agentNamed(id).texts()).toEqual([id])
  })
})
