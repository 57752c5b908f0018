// iMessage through the whole river under every fault that a script and a database can have: nothing is lost, and what may be twice is
// labelled. Prints the matrix platform × fault.
import { renameSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { formatMatrix, type MatrixCell } from '../../src/testing/faults/fault-matrix.ts'
import type { ScriptAnswer } from '../../src/testing/imessage/messages-double.ts'
import { until } from '../faults/until.ts'
import { dealtPlans, SCOPE } from './deal.ts'
import {
  IMESSAGE_ARRANGEMENTS,
  type IMessageRiver,
  type IMessageRiverOptions,
  KATE,
  OWN,
  openIMessageRiver,
} from './imessage-river.ts'

const WORDS = ['alpha', 'bravo', 'charlie']
// Short where a send must be given up. Elsewhere a slow machine must not make one look lost.
const IMPATIENT = { scriptMs: 3_000, confirmMs: 1_500 }
const PATIENT = { scriptMs: 60_000, confirmMs: 60_000 }

interface Plan {
  readonly name: string
  /** What `osascript` does at its nth call. */
  readonly send?: (nth: number, text: string) => ScriptAnswer
  /** What happens around the words of a person, one after the other. */
  readonly receive?: (river: IMessageRiver, nth: number, say: () => string) => Promise<void> | void
  /** What it lets people say besides. */
  readonly alsoSaid?: readonly string[]
  /** It may not have gone out, or did so unseen: a second copy, labelled, is honest. */
  readonly mayRepeat?: true
}

const at = (nths: readonly number[], answer: ScriptAnswer) => (nth: number) =>
  nths.includes(nth) ? answer : {}
const TIMED_OUT = 'AppleEvent timed out. (-1712)'

const PLANS: readonly Plan[] = [
  { name: 'none' },
  {
    name: 'Messages is not running',
    send: at([1, 2, 5], { error: 'Application isn’t running. (-600)' }),
  },
  { name: 'sent, then a timeout is told', send: at([2, 4], { row: {}, error: TIMED_OUT }), mayRepeat: true },
  { name: 'a timeout, and nothing was sent', send: at([2], { error: TIMED_OUT }), mayRepeat: true },
  { name: 'sent, and osascript hangs', send: at([2], { hangs: 'after' }), mayRepeat: true },
  { name: 'osascript hangs, and nothing was sent', send: at([3], { hangs: true }), mayRepeat: true },
  { name: 'taken, and no row appears', send: at([2], { row: false }), mayRepeat: true },
  { name: 'slow on send', send: at([2, 4], { lateMs: 300 }) },
  { name: 'the chat of what was sent is written later', send: at([1, 3], { joinMs: 300 }) },
  {
    name: 'quotes are made curly and joiners added',
    send: (_nth, text) => ({ row: { text: text.replaceAll('"', '”').replaceAll(': ', ':\u200d ') } }),
  },
  {
    name: 'the chat of what was said is written later',
    receive: async (river, _nth, say) => {
      const guid = say()
      river.double.exec(
        `DELETE FROM chat_message_join WHERE message_id = (SELECT ROWID FROM message WHERE guid = '${guid}')`,
      )
      setTimeout(() => {
        // It may have been read before it was taken away.
        river.double.exec(
          `INSERT OR IGNORE INTO chat_message_join (chat_id, message_id) SELECT (SELECT ROWID FROM chat WHERE chat_identifier = '${KATE}'), ROWID FROM message WHERE guid = '${guid}'`,
        )
      }, 200)
    },
  },
  {
    name: 'renumbered',
    receive: (river, nth, say) => {
      say()
      if (nth === 2)
        river.double.exec(
          'UPDATE message SET ROWID = ROWID + 500; UPDATE chat_message_join SET message_id = message_id + 500',
        )
    },
  },
  {
    name: 'damaged rows and service rows between',
    receive: (river, _nth, say) => {
      const body = Buffer.from('\x04\x0bstreamtyped garbage', 'latin1')
      river.double.put(KATE, { handle: KATE, body })
      river.double.put(KATE, { handle: KATE, itemType: 2, text: 'renamed' })
      say()
    },
  },
  {
    name: 'the database is away',
    receive: async (river, nth, say) => {
      say()
      if (nth !== 2) return
      const { dbPath } = river.double
      for (const end of ['', '-wal', '-shm']) renameSync(dbPath + end, `${dbPath}.away${end}`)
      await until('the link is down', () => river.link().state === 'down')
      for (const end of ['', '-wal', '-shm']) renameSync(`${dbPath}.away${end}`, dbPath + end)
      await until('the link is up', () => river.link().state === 'up')
    },
  },
  {
    name: 'the database is restored from before',
    receive: async (river, nth, say) => {
      if (nth !== 3) return void say()
      // What was said since is read, answered, and not in the file that comes back.
      const backup = river.double.backup()
      river.double.says(KATE, 'since')
      await until('it is answered', () => river.double.shown(KATE).includes('You said: since'))
      await emptied(river)
      river.double.restore(backup)
      say()
    },
    alsoSaid: ['since'],
  },
  {
    name: 'stopped and started between',
    receive: async (river, nth, say) => {
      if (nth !== 2) return void say()
      await river.down()
      say()
      await river.up()
    },
  },
  {
    name: 'all in turn',
    send: (nth) =>
      [
        {},
        { error: 'Application isn’t running. (-600)' },
        { row: {}, error: TIMED_OUT },
        { joinMs: 200 },
        { lateMs: 200 },
      ][nth % 5] ?? {},
    mayRepeat: true,
  },
]

const cells: MatrixCell[] = []
afterAll(() => console.log(`platform × fault\n${formatMatrix(cells)}`))

async function withRiver(options: IMessageRiverOptions, run: (river: IMessageRiver) => Promise<void>) {
  const river = await openIMessageRiver(options)
  try {
    await run(river)
    expect(await river.store().verify()).toMatchObject({
      ok: true,
      chain: 'intact',
      conservation: { ok: true },
    })
  } finally {
    await river.close()
  }
}
const emptied = (river: IMessageRiver) =>
  until('the outbox is empty', async () => {
    const open = await river.store().sends({ states: ['queued', 'sending'], limit: 10 })
    return open.length === 0
  })

describe('imessage under every fault plan', () => {
  const product = PLANS.flatMap((plan) =>
    IMESSAGE_ARRANGEMENTS.map((arrangement) => ({ ...plan, arrangement })).slice(
      0,
      SCOPE === 'first' ? 1 : 2,
    ),
  )
  it.each(dealtPlans(product, ({ name }) => name))(
    '[I24.im-plans] [I24.im-replaced] $name on $arrangement: nothing lost, nothing repeated without a label',
    async (plan) => {
      const timings = plan.mayRepeat ? IMPATIENT : PATIENT
      await withRiver({ arrangement: plan.arrangement, timings }, async (river) => {
        const { double } = river
        let fired = 0
        let nth = 0
        // The question goes to both chats of those who may decide: which chat has the nth call is known only within one. And a
        // question that may have arrived is not asked again once it was answered elsewhere, but stays unknown.
        double.answerWith(({ args: [text = '', target = ''] }) => {
          if (!target.endsWith(KATE)) return {}
          nth += 1
          const answer = plan.send?.(nth, text) ?? {}
          if (Object.keys(answer).length > 0) fired += 1
          return answer
        })
        const seen = () => double.shown(KATE).map((text) => text.replaceAll('\u200d', ''))
        const sees = (part: string) => until(part, () => seen().find((text) => text.includes(part)))
        for (const [index, word] of [...WORDS, 'deploy'].entries()) {
          const say = () => double.says(KATE, word)
          if (plan.receive) await plan.receive(river, index + 1, say)
          else say()
        }
        for (const word of WORDS) await sees(`You said: ${word}`)
        const asked = await sees('demo wants to run Deploy')
        const [, id] = /yes ([a-z]{5})/.exec(asked) ?? []
        double.says(KATE, `yes ${id}`)
        await sees('Deployed')
        await emptied(river)
        const expected = [...WORDS.map((word) => `You said: ${word}`), 'Deployed']
        const labelled = seen().filter((text) => text.includes('may be a duplicate'))
        const copies = (part: string) => seen().filter((text) => text.includes(part))
        const plain = (part: string) => copies(part).filter((text) => !labelled.includes(text))
        cells.push({
          ...{ platform: 'imessage', plan: plan.name, fired },
          lost: expected.filter((part) => copies(part).length === 0).length,
          repeated: expected.filter((part) => plain(part).length > 1).length,
          labelled: labelled.length,
        })
        expect(expected.map((part) => plain(part).length <= 1)).toEqual(expected.map(() => true))
        if (!plan.mayRepeat) expect(labelled).toEqual([])
        if (plan.send) expect(fired).toBeGreaterThan(0)
        // What a verdict is answered with may be queued only after the outbox was empty.
        const sends = await until('nothing is under way', async () => {
          const all = await river.store().sends({ limit: 100 })
          return all.some(({ state }) => state === 'queued' || state === 'sending') ? undefined : all
        })
        expect(sends.map(({ state }) => state)).toEqual(sends.map(() => 'sent'))
        // Each message was received once, whatever the database did.
        const turns = await river.store().turns({ limit: 200 })
        const messages = turns.filter(({ body, state }) => body?.kind === 'message' && state !== 'refused')
        expect(messages.map((turn) => turn.body?.text).toSorted()).toEqual(
          [...WORDS, 'deploy', `yes ${id}`, ...(plan.alsoSaid ?? [])].toSorted(),
        )
      })
    },
  )
})

describe('imessage with oneself', () => {
  it('[I24.im-self] [I24.im-plans] answers, prompts and files of ours start no turn, though their rows come late and before a restart', async () => {
    await withRiver({ timings: PATIENT }, async (river) => {
      const { double } = river
      double.chat(OWN)
      double.answerWith(() => ({ joinMs: 100, lateMs: 200 }))
      const say = (text: string) => void double.put(OWN, { text, fromMe: true })
      const sees = (part: string) => until(part, () => double.shown(OWN).find((text) => text.includes(part)))
      say('alpha')
      await sees('You said: alpha')
      say('deploy')
      const asked = await sees('demo wants to run Deploy')
      await emptied(river)
      await river.down()
      say(`yes ${/yes ([a-z]{5})/.exec(asked)?.[1]}`)
      await river.up()
      await sees('Deployed')
      await emptied(river)
      say('omega')
      await sees('You said: omega')
      await emptied(river)
      const ends = async () => {
        const turns = await river.store().turns({ limit: 50 })
        return turns.map(({ state, reason }) => reason ?? state).toSorted()
      }
      // A verdict that is told again after a restart may be quicker than the turn that asked for it is taken up.
      await until('all is settled', async () => !(await ends()).includes('seen'))
      expect(await ends()).toEqual(['answered', 'answered', 'answered', 'verdict'])
    })
  })
})
