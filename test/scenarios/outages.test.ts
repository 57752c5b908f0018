// An outage is not an outcome: what becomes of a try that was written out and never confirmed, and who hears of what was not
// delivered.
import { expect, it } from 'vitest'
import { SwitchboardError } from '../../src/contract/index.ts'
import type { SendFault } from '../../src/testing/scripted/scripted-platform.ts'
import { testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River } from './river.ts'
import { caller } from './tool-caller.ts'

const LOST: SendFault = { kind: 'unknown', arrived: false }
const ARRIVED: SendFault = { kind: 'unknown', arrived: true }
const NOTE = '(may be a duplicate: the first copy was never confirmed)\n\n'
const REPEATS = { abilities: { idempotentSend: true } }
const MINUTE = 60_000
const HOUR = 60 * MINUTE

async function send(river: River, text: string, to = 'chat:anna'): Promise<void> {
  await river.operator().order({ to, text, wait_ms: 0 }, 'operator')
  await river.settle()
}

const newest = async (river: River) => (await river.operator().sends({ limit: 1 }))[0]

/** When each try was made, in seconds after the first, while time passes. */
async function triesWithin(river: River, ms: number): Promise<readonly number[]> {
  const times: number[] = []
  const from = river.now()
  for (let at = 0; at <= ms; at += 1_000) {
    while (times.length < river.platform.attempts.length) times.push(Math.round((river.now() - from) / 1_000))
    await river.pass(1_000)
  }
  return times
}

const away = () => new SwitchboardError('platform_unavailable', 'the history answers 502')

describeRiver('outages', (open) => {
  it('[I35.b1-resend] a resend that certainly did nothing is simply made again, with its label', async () => {
    const river = await open()
    river.platform.failNext([LOST, { kind: 'unavailable' }, { kind: 'busy', retryAfterMs: 2_000 }], 'anna')
    await send(river, '1')
    await river.pass(20_000)
    expect(river.platform.texts('anna')).toEqual([`${NOTE}1`])
    expect(await newest(river)).toMatchObject({ state: 'sent', attempts: 4 })
  })

  it('[I35.b1-resend] by policy hold it is left for the operator at once', async () => {
    const river = await open({ tunables: { unknownPolicy: 'hold' } })
    river.platform.failNext([LOST], 'anna')
    await send(river, '1')
    expect(await newest(river)).toMatchObject({ state: 'unknown', reason: 'unconfirmed' })
  })

  it('[I35.b1-resend] an operator can give up a send whose outcome is open', async () => {
    const river = await open()
    river.platform.failNext([LOST], 'anna')
    await send(river, '1')
    await send(river, '2')
    const rows = await river.operator().sends({ limit: 2 })
    const first = rows.find(({ text }) => text === '1')
    await river.operator().operateSend(first?.id ?? '', 'bury', 'operator')
    await river.pass(10_000)
    expect(river.platform.texts('anna')).toEqual(['2'])
  })

  it('[I35.b1-readback] a limit on the read-back is waited for as the platform says; any other 4xx means that there is none', async () => {
    const answers = [
      new SwitchboardError('rate_limited', 'slow down', { retryAfterMs: 50_000 }),
      new SwitchboardError('platform_rejected', 'missing_scope'),
    ]
    const asked: number[] = []
    const reconcile = () => {
      asked.push(river.now())
      throw answers.shift() ?? new SwitchboardError('platform_rejected', 'missing_scope')
    }
    const river = await open({ platform: { reconcile } })
    river.platform.failNext([LOST], 'anna')
    await send(river, '1')
    await river.pass(49_000)
    expect(asked).toHaveLength(1)
    await river.pass(2_000)
    expect(asked).toHaveLength(2)
    expect(river.platform.texts('anna')).toEqual([`${NOTE}1`])
  })

  it('[I35.b1-readback] "not there" counts 30 s after the try ended: what arrives late is not sent twice', async () => {
    let arrivesAt = Number.POSITIVE_INFINITY
    const reconcile = () =>
      river.now() < arrivesAt
        ? ({ outcome: 'absent' } as const)
        : ({ outcome: 'sent', receipt: { platformIds: ['late'] } } as const)
    const river = await open({ platform: { reconcile } })
    river.platform.failNext([LOST, LOST], 'anna')
    arrivesAt = river.now() + 25_000
    await send(river, '1')
    await river.pass(MINUTE)
    expect(river.platform.attempts).toHaveLength(1)
    expect(await newest(river)).toMatchObject({ state: 'sent', platform_ids: ['late'] })
    arrivesAt = Number.POSITIVE_INFINITY
    await send(river, '2')
    await river.pass(29_000)
    expect(river.platform.attempts).toHaveLength(2)
    await river.pass(2_000)
    expect(river.platform.texts('anna')).toEqual(['2'])
  })

  it.each([
    ['the resend is refused', { kind: 'rejected' }, {}],
    ['the resend is refused, and the chat is gone', { kind: 'gone' }, {}],
    ['the platform stays away', { kind: 'unavailable' }, {}],
    ['a repeat shows nothing twice, and the platform stays away', { kind: 'unavailable' }, REPEATS],
    ['a repeat shows nothing twice, and is refused', { kind: 'rejected' }, REPEATS],
  ] as const)(
    '[I35.b1-arrived] what arrived unconfirmed never ends as failed: %s',
    async (_, fault, platform) => {
      const river = await open({ platform, tunables: { sendExpiryMs: 4 * MINUTE } })
      river.platform.failBy(({ cause }) => {
        if (cause !== 'reply') return null
        return river.platform.attempts.length === 1 ? ARRIVED : fault
      })
      await river.person('anna').says('one')
      await river.pass(5 * MINUTE)
      const [row] = await river.operator().sends({ states: ['unknown', 'failed'], limit: 5 })
      expect(row).toMatchObject({ state: 'unknown', reason: 'unconfirmed', cause: 'reply' })
      const notices = river.platform.attempts.filter(({ cause }) => cause === 'notice')
      expect(notices.map(({ op }) => op.kind === 'text' && op.text)).toEqual(
        fault.kind === 'gone' ? [] : ['⚠️ An answer may not have arrived.'],
      )
      await river.person('anna').says('two')
      await river.settle()
      expect(river.agent.deliveries.at(-1)?.context?.map(({ text }) => text)).toEqual([
        expect.stringMatching(/may not have arrived|may have arrived/),
      ])
    },
  )

  it.each([
    [ARRIVED, { state: 'sent' }],
    [LOST, { state: 'failed', reason: 'platform_rejected' }],
  ] as const)(
    '[I35.b1-arrived] where the platform can be asked, a refused repeat ends as it says (%o)',
    async (fault, ends) => {
      const reconcile = ({ tried }: { readonly tried?: { readonly since: number } }) => {
        const until = (tried?.since ?? 0) + MINUTE
        return river.now() < until ? ({ outcome: 'harmless', until } as const) : null
      }
      const river = await open({ platform: { reconcile } })
      river.platform.failNext([fault, { kind: 'rejected' }], 'anna')
      await send(river, '1')
      await river.pass(2 * MINUTE)
      expect(river.platform.attempts).toHaveLength(2)
      expect(await newest(river)).toMatchObject(ends)
    },
  )

  it('[I35.b1-arrived] a try that a crash cuts off counts, whatever was known of those before it', async () => {
    let isBlind = false
    const reconcile = () => {
      if (isBlind) throw new SwitchboardError('platform_rejected', 'missing_scope')
      return { outcome: 'absent' } as const
    }
    const river = await open({ platform: { reconcile } })
    river.platform.failNext([LOST], 'anna')
    await send(river, '1')
    river.crashAt('outbox.after-send')
    await river.pass(40_000)
    expect(river.dead()).toBe(true)
    isBlind = true
    river.platform.failNext([{ kind: 'rejected' }], 'anna')
    await river.restart()
    await river.pass(MINUTE)
    expect(await newest(river)).toMatchObject({ state: 'unknown', reason: 'unconfirmed' })
  })

  it('[I35.b1-counted] the notice counts every answer that was not delivered, however many', async () => {
    const river = await open()
    await river.person('anna').says('hello')
    await river.settle()
    river.platform.failBy(({ cause }) => (cause === 'reply' ? { kind: 'rejected' } : null))
    await river.store().enqueue(
      Array.from({ length: 510 }, (_, at) => ({
        ...{ to: { integration: 'chat', conversation: 'anna' }, platform: 'test', cause: 'reply' as const },
        ...{ agent: 'demo', session: null, turn: null, op: { kind: 'text' as const, text: `answer ${at}` } },
      })),
    )
    await river.pass(MINUTE)
    const notices = river.platform.texts('anna').filter((text) => text.startsWith('⚠️'))
    expect(notices).toEqual(['⚠️ 510 answers could not be delivered.'])
    expect(await river.store().unnoticedSends(0)).toEqual([])
  })

  it('[I35.b1-order] the parts behind an open one wait with it, and follow in order', async () => {
    const river = await open({ platform: { textLimit: 10, reconcile: 'truth' } })
    await send(river, 'warm-up')
    river.platform.failNext([ARRIVED], 'anna')
    await send(river, 'aaaaaaaaa bbbbbbbbb ccccccccc')
    await river.pass(MINUTE)
    const parts = river.platform.texts('anna').slice(1)
    expect(parts.map((part) => part.trim())).toEqual(['aaaaaaaaa', 'bbbbbbbbb', 'ccccccccc'])
  })

  it('[I35.b1-known] what ended failed or unknown is told to the agent beside its next turn there, once', async () => {
    const river = await open()
    river.platform.failNext([{ kind: 'rejected' }], 'anna')
    await river.person('anna').says('one')
    await river.pass(1_000)
    await river.person('bert').says('elsewhere')
    await river.pass(1_000)
    await river.person('anna').says('two')
    await river.pass(1_000)
    await river.person('anna').says('three')
    await river.pass(1_000)
    const lines = river.agent.deliveries.map(({ text: said, context }) => [
      said,
      (context ?? []).filter(({ about }) => about === 'delivery').map(({ text }) => text),
    ])
    expect(lines).toEqual([
      ['one', []],
      ['elsewhere', []],
      [
        'two',
        [
          expect.stringMatching(
            /^your message to chat:anna \(\S+\) could not be delivered: not_in_channel\./,
          ),
        ],
      ],
      ['three', []],
    ])
  })
})

describeRiver('what an answer carries', (open) => {
  const FILES = ['a.txt', 'b.txt', 'c.txt'].map((name) => ({
    ...{ name, mime: 'text/plain' },
    bytes: Buffer.from(name),
  }))
  const fileNames = (river: River) =>
    river.platform.arrived.flatMap(({ op }) => (op.kind === 'file' ? [op.name] : []))

  it('[I35.b29] a refused file is told to the agent and the person; those behind it are sent', async () => {
    const river = await open()
    river.agent.script = async (delivery, agent) =>
      void (await agent.answer(delivery, 'here', { files: FILES }))
    river.platform.failBy(({ op }) =>
      op.kind === 'file' && op.name === 'a.txt' ? { kind: 'rejected' } : null,
    )
    await river.person('anna').says('files, please')
    await river.pass(10_000)
    expect(fileNames(river)).toEqual(['b.txt', 'c.txt'])
    expect(river.platform.texts('anna')).toContain('⚠️ A file could not be delivered.')
    await river.person('anna').says('and?')
    await river.settle()
    expect(river.agent.deliveries.at(-1)?.context?.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^your file to chat:anna \(\S+\) could not be delivered: not_in_channel/),
    ])
  })

  it('[I35.b45-file-resend] a file of unknown outcome is sent again at most four times, with the note', async () => {
    const river = await open()
    river.agent.script = async (delivery, agent) =>
      void (await agent.answer(delivery, 'here', { files: FILES.slice(0, 1) }))
    river.platform.failBy(({ op }) => (op.kind === 'file' ? LOST : null))
    await river.person('anna').says('files, please')
    await river.pass(14 * MINUTE)
    const tries = river.platform.attempts.flatMap(({ op }) => (op.kind === 'file' ? [op.caption ?? ''] : []))
    expect(tries).toEqual(['', NOTE, NOTE, NOTE, NOTE])
    const [row] = await river.operator().sends({ states: ['unknown'], limit: 5 })
    expect(row).toMatchObject({ reason: 'unconfirmed', attempts: 5 })
  })

  it('[I35.b45-grant-at-send] a send_message grant that is taken away while the message waits keeps it back', async () => {
    const granted = { ...testAgent('demo', ['chat']), messagingAllow: ['test:anna'] }
    const river = await open({ agents: [granted] })
    river.platform.failNext([LOST], 'anna')
    const sent = river.tools().sendMessage(caller(), { platform: 'test', target: 'anna', body: 'secret' })
    await river.settle()
    await river.configure({ agents: [{ ...granted, messagingAllow: [] }] })
    await river.pass(MINUTE)
    await sent
    expect(river.platform.attempts).toHaveLength(1)
    // The first try may have arrived: nobody calls it failed.
    const [row] = await river.operator().sends({ states: ['unknown'], limit: 5 })
    expect(row).toMatchObject({ reason: 'unconfirmed', cause: 'send_message' })
    expect(row?.detail).toMatch(/^given up: /)
  })

  it('[I35.b33] the final text of an agent quotes the message in a group, by its first part, as reply_to_mode says', async () => {
    const access = {
      ...testIntegration('chat').access,
      groups: { room: { requireMention: false, allowFrom: ['*'], origin: 'room' } },
    } as never
    for (const [replyToMode, group, direct] of [
      ['first', [true, false], [false, false]],
      ['all', [true, true], [true, true]],
      ['off', [false, false], [false, false]],
    ] as const) {
      const river = await open({
        integrations: [testIntegration('chat', { access, replyToMode })],
        platform: { textLimit: 12 },
      })
      const quotes = (conversation: string) =>
        river.platform.arrived
          .filter(({ to, op }) => to.conversation === conversation && op.kind === 'text')
          .map(({ op }) => op.kind === 'text' && op.replyTo !== undefined)
      await river.person('room', 'anna', { chat: 'group' }).says('aaaaaaa bb')
      await river.person('anna').says('aaaaaaa bb')
      await river.settle()
      expect([replyToMode, quotes('room'), quotes('anna')]).toEqual([replyToMode, group, direct])
    }
  })
})

// Hours, timer by timer: in memory where nothing is started again.
describeRiver(
  'long outages',
  (open) => {
    it('[I35.b1-resend] without a read-back at most four labelled resends follow, then it is unknown; a later send goes on', async () => {
      const river = await open()
      river.platform.failBy(({ op }) => (op.kind === 'text' && op.text.endsWith('1') ? LOST : null))
      await send(river, '1')
      expect(await newest(river)).toMatchObject({ state: 'sending', reason: 'outcome_open' })
      expect((await river.operator().status()).outbox).toMatchObject({
        queued: 1,
        outcome_open: 1,
        unknown: 0,
      })
      const tries = await triesWithin(river, 14 * MINUTE)
      expect(tries).toEqual([0, 5, 35, 155, 755])
      expect(river.platform.attempts.map(({ op }) => op.kind === 'text' && op.text)).toEqual([
        '1',
        ...Array.from({ length: 4 }, () => `${NOTE}1`),
      ])
      expect(await newest(river)).toMatchObject({ state: 'unknown', reason: 'unconfirmed' })
      expect((await river.operator().status()).outbox).toMatchObject({
        queued: 0,
        outcome_open: 0,
        unknown: 1,
      })
      await send(river, '2')
      expect(river.platform.texts('anna')).toEqual(['2'])
    })

    it.each([
      [ARRIVED, 1],
      [LOST, 2],
    ] as const)(
      '[I35.b1-readback] [I35.b1] a read-back that does not answer is asked again until it does (%o): once, without a label',
      async (fault, tries) => {
        let isAway = true
        let asked = 0
        const reconcile = () => {
          asked += 1
          if (isAway) throw away()
          return null
        }
        const river = await open({ platform: { reconcile } })
        river.platform.failNext([fault], 'anna')
        await send(river, '1')
        await send(river, '2')
        await river.pass(2 * HOUR)
        expect(await river.operator().sends({ limit: 2 })).toMatchObject([
          { state: 'queued' },
          { state: 'sending', reason: 'outcome_open', attempts: 1 },
        ])
        // With backoff: about once a minute.
        expect(asked).toBeGreaterThan(60)
        expect(asked).toBeLessThan(400)
        isAway = false
        await river.pass(2 * MINUTE)
        expect(river.platform.texts('anna')).toEqual(['1', '2'])
        expect(river.platform.attempts).toHaveLength(tries + 1)
      },
    )

    it('[I35.b1-readback] one that never answers is given up after send_expiry', async () => {
      const river = await open({ platform: { reconcile: 'throws' }, tunables: { sendExpiryMs: 10 * MINUTE } })
      river.platform.failNext([LOST], 'anna')
      await send(river, '1')
      await river.pass(9 * MINUTE)
      expect(await newest(river)).toMatchObject({ state: 'sending', reason: 'outcome_open' })
      await river.pass(2 * MINUTE)
      expect(await newest(river)).toMatchObject({ state: 'unknown', reason: 'unconfirmed' })
      expect(river.platform.attempts).toHaveLength(1)
    })

    it('[I35.b1-poison] a message that the platform never takes holds nobody back, and ends after send_expiry', async () => {
      const river = await open({ platform: { reconcile: 'truth' }, tunables: { sendExpiryMs: 2 * HOUR } })
      river.agent.script = async (delivery, agent) => void (await agent.answer(delivery, delivery.text))
      river.platform.failBy(({ op }) => (op.kind === 'text' && op.text === 'poison' ? LOST : null))
      await river.person('anna').says('poison')
      await river.person('anna').says('fine')
      const tries = await triesWithin(river, 9 * MINUTE)
      expect(tries).toEqual([1, 30, 60, 180])
      expect(river.platform.texts('anna')).toEqual([])
      await river.pass(2 * MINUTE)
      expect(river.platform.texts('anna')).toEqual(['fine'])
      await river.pass(90 * MINUTE)
      expect(river.platform.attempts.length).toBeLessThan(16)
      expect(river.platform.texts('anna')).toEqual(['fine'])
      await river.pass(30 * MINUTE)
      const [row] = await river.operator().sends({ states: ['failed'], limit: 5 })
      expect(row).toMatchObject({ reason: 'platform_unavailable', cause: 'reply' })
      expect(river.platform.texts('anna')).toEqual(['fine', '⚠️ An answer could not be delivered.'])
      const made = river.platform.attempts.length
      await river.pass(HOUR)
      expect(river.platform.attempts).toHaveLength(made)
      await river.person('anna').says('and?')
      await river.settle()
      expect(river.agent.deliveries.at(-1)?.context?.map(({ text }) => text)).toEqual([
        expect.stringMatching(/could not be delivered/),
      ])
    })

    it('[I35.b1-parts] the parts of one answer never overtake each other; what is not of it goes first', async () => {
      let isAway = true
      const reconcile = () => {
        if (isAway) throw away()
        return null
      }
      const river = await open({ platform: { reconcile, textLimit: 10 } })
      river.platform.failNext([LOST], 'anna')
      const parts = ['aaaaaaaaa', 'bbbbbbbbb', 'ccccccccc', 'ddddddddd', 'eeeeeeeee', 'fffffffff']
      await send(river, parts.join(' '))
      await send(river, 'later')
      await river.pass(1_000)
      await send(river, 'hello', 'chat:bert')
      await river.pass(9 * MINUTE)
      expect(river.platform.texts('anna')).toEqual([])
      await river.pass(3 * MINUTE)
      expect(river.platform.texts('anna')).toEqual(['later'])
      isAway = false
      await river.pass(2 * MINUTE)
      expect(river.platform.texts('anna').map((text) => text.trim())).toEqual(['later', ...parts])
    })

    it('[I35.b1-readback] while a nonce holds it is made again at once; afterwards the history is read', async () => {
      const asked: (number | undefined)[] = []
      const reconcile = ({ tried }: { readonly tried?: { readonly since: number } }) => {
        asked.push(tried?.since)
        const until = (tried?.since ?? 0) + MINUTE
        return river.now() < until ? ({ outcome: 'harmless', until } as const) : null
      }
      const river = await open({ platform: { reconcile } })
      river.platform.failBy(() => (river.platform.attempts.length < 40 ? LOST : null))
      await send(river, '1')
      const tries = await triesWithin(river, MINUTE)
      expect(tries.length).toBeGreaterThan(3)
      expect(tries.at(-1)).toBeLessThanOrEqual(60)
      expect(new Set(asked).size).toBe(1)
      const before = river.platform.attempts.length
      // Not there, 30 s after the last try: it is sent again, as if for the first time.
      await river.pass(35_000)
      expect(river.platform.attempts.length).toBeGreaterThan(before)
      expect(river.platform.attempts.every(({ op }) => op.kind === 'text' && op.text === '1')).toBe(true)
    })

    it('[I35.b1-readback] what waited until the nonce held no more is looked for, and not made again blindly', async () => {
      const reconcile = ({ tried }: { readonly tried?: { readonly since: number } }) => {
        const until = (tried?.since ?? 0) + MINUTE
        return river.now() < until
          ? ({ outcome: 'harmless', until } as const)
          : ({ outcome: 'sent', receipt: { platformIds: ['there'] } } as const)
      }
      const river = await open({ platform: { reconcile } })
      river.platform.failNext([ARRIVED], 'anna')
      await send(river, '1')
      expect(await newest(river)).toMatchObject({ state: 'queued' })
      await river.sleep(2 * MINUTE)
      await river.pass(MINUTE)
      expect(river.platform.attempts).toHaveLength(1)
      expect(await newest(river)).toMatchObject({ state: 'sent', platform_ids: ['there'] })
    })

    it('[I35.b1-order] later sends wait while the platform is down, and at most 10 min after another call succeeded', async () => {
      let isAway = true
      const reconcile = () => {
        if (isAway) throw away()
        return null
      }
      const river = await open({ platform: { reconcile } })
      river.platform.failNext([LOST], 'anna')
      await send(river, '1')
      await send(river, '2')
      await river.pass(30 * MINUTE)
      expect(river.platform.texts('anna')).toEqual([])
      // Somebody else hears: the platform is there.
      await send(river, 'hello', 'chat:bert')
      expect(river.platform.texts('bert')).toEqual(['hello'])
      await river.pass(8 * MINUTE)
      expect(river.platform.texts('anna')).toEqual([])
      await river.pass(2 * MINUTE)
      expect(river.platform.texts('anna')).toEqual(['2'])
      await send(river, '3')
      expect(river.platform.texts('anna')).toEqual(['2', '3'])
      isAway = false
      await river.pass(2 * MINUTE)
      expect(river.platform.texts('anna')).toEqual(['2', '3', '1'])
    })

    it('[I35.b1-order] a read-back that is answered for another conversation is a call that succeeded, too', async () => {
      const reconcile = ({ to }: { readonly to: { readonly conversation: string } }) => {
        if (to.conversation === 'anna') throw away()
        return { outcome: 'sent', receipt: { platformIds: ['there'] } } as const
      }
      const river = await open({ platform: { reconcile } })
      river.platform.failNext([LOST], 'anna')
      await send(river, '1')
      await send(river, '2')
      await river.pass(30 * MINUTE)
      expect(river.platform.texts('anna')).toEqual([])
      river.platform.failNext([ARRIVED], 'bert')
      await send(river, 'hello', 'chat:bert')
      await river.pass(12 * MINUTE)
      expect(river.platform.texts('anna')).toEqual(['2'])
    })

    it('[I35.b1-known] what may not have arrived is called so; the notice itself is tried once and is the subject of none', async () => {
      const river = await open()
      river.platform.failBy(() => LOST)
      await river.person('anna').says('one')
      await river.pass(20 * MINUTE)
      const notice = river.platform.attempts.map(({ op }) => op.kind === 'text' && op.text).slice(5)
      expect(notice).toEqual(['⚠️ An answer may not have arrived.'])
      await river.pass(3 * HOUR)
      expect(river.platform.attempts).toHaveLength(6)
      expect(await newest(river)).toMatchObject({ cause: 'notice', state: 'unknown' })
    })

    it('[I35.b1-known] a notice that waits for the platform is not sent when a day has passed', async () => {
      const river = await open({ tunables: { sendExpiryMs: 48 * HOUR } })
      river.platform.failNext([{ kind: 'rejected' }], 'anna')
      await river.person('anna').says('one')
      river.platform.failBy(({ cause }) =>
        cause === 'notice' ? { kind: 'unavailable', retryAfterMs: HOUR } : null,
      )
      await river.pass(10_000)
      await river.sleep(23 * HOUR)
      expect(await newest(river)).toMatchObject({ cause: 'notice', state: 'queued' })
      await river.sleep(3 * HOUR)
      await river.pass(HOUR)
      expect(await newest(river)).toMatchObject({ cause: 'notice', state: 'failed', reason: 'given_up' })
    })

    it('[I35.b1-known] nobody is told where nothing may be said: revoked, gone, or by the operator', async () => {
      const river = await open({ integrations: [testIntegration('chat'), testIntegration('other')] })
      river.platform.failNext([{ kind: 'unavailable', retryAfterMs: MINUTE }], 'anna')
      await river.person('anna').says('one')
      await river.settle()
      await river.configure({
        integrations: [
          testIntegration('chat', {
            access: { ...testIntegration('chat').access, allowFrom: ['bert'] } as never,
          }),
          testIntegration('other'),
        ],
      })
      await river.pass(2 * MINUTE)
      expect(await newest(river)).toMatchObject({ state: 'failed', reason: 'not_allowed' })
      river.platform.failNext([{ kind: 'rejected' }], 'bert')
      await send(river, 'by the operator', 'chat:bert')
      river.platform.failNext([{ kind: 'gone' }], 'bert')
      await river.person('bert').says('two')
      await river.pass(2 * HOUR)
      expect(river.platform.attempts.filter(({ cause }) => cause === 'notice')).toEqual([])
    })
  },
  ['memory'],
)

describeRiver(
  'long outages with a restart',
  (open) => {
    it('[I35.b1-resend] [I35.b1] a crash keeps the count, the times and the label', async () => {
      const river = await open()
      river.platform.failBy(() => LOST)
      await send(river, '1')
      await river.pass(40_000)
      expect(river.platform.attempts).toHaveLength(3)
      await river.restart()
      await river.pass(5_000)
      expect(river.platform.attempts).toHaveLength(3)
      await river.pass(14 * MINUTE)
      expect(river.platform.attempts).toHaveLength(5)
      expect(river.platform.attempts.at(-1)?.op).toMatchObject({ text: `${NOTE}1` })
      expect(await newest(river)).toMatchObject({ state: 'unknown', attempts: 5 })
    })

    it('[I35.b1-known] the person is told once a conversation, at most once an hour, and nothing is quoted', async () => {
      const river = await open()
      const refuse = (count: number) =>
        river.platform.failNext(
          Array.from({ length: count }, () => ({ kind: 'rejected' as const })),
          'anna',
        )
      const notices = () => river.platform.texts('anna').filter((text) => text.startsWith('⚠️'))
      refuse(2)
      await river.person('anna').says('one')
      await river.person('anna').says('two')
      await river.settle()
      expect(notices()).toEqual([])
      await river.pass(10_000)
      expect(notices()).toEqual(['⚠️ 2 answers could not be delivered.'])
      refuse(1)
      await river.person('anna').says('three')
      await river.pass(10 * MINUTE)
      await river.restart()
      await river.pass(40 * MINUTE)
      expect(notices()).toHaveLength(1)
      await river.pass(15 * MINUTE)
      expect(notices()).toEqual([
        '⚠️ 2 answers could not be delivered.',
        '⚠️ An answer could not be delivered.',
      ])
      await river.pass(3 * HOUR)
      expect(notices()).toHaveLength(2)
    })
  },
  ['sqlite'],
)
