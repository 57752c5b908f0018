// Sends by AppleScript, and the proof that a message went out.
import { existsSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { OutboundOp, SwitchboardError, TranscriptEntry } from '../../contract/index.ts'
import { KATE, openScene, type Scene } from './fixtures/imessage-scene.ts'

const REQUEST = {
  to: { integration: 'im', conversation: KATE },
  op: { kind: 'text', text: 'was it sent?', plain: true },
  key: 'o_t_1',
  seq: 1,
} as const

let scene: Scene
/** The outbox's rows of this chat. */
let said: TranscriptEntry[]
const madeNow = (): TranscriptEntry => ({
  ...{ seq: 1, direction: 'out', conversation: KATE, at: scene.clock.now(), text: '' },
  ...{ id: REQUEST.key, state: 'sending', reason: null, op: REQUEST.op },
})
beforeEach(async () => {
  said = []
  scene = openScene({
    timings: { confirmMs: 300, scriptMs: 2_000 },
    transcript: ({ direction }) => (direction === 'out' ? said : []),
  })
  scene.double.says(KATE, 'hi')
  await scene.adapter.start(scene.intake, null)
  await scene.clock.settle()
})
afterEach(() => scene.close())
const failure = async (sending: Promise<unknown>): Promise<SwitchboardError> =>
  sending.then(
    () => Promise.reject(new Error('it was sent')),
    (thrown: SwitchboardError) => thrown,
  )
const text = (words: string): OutboundOp => ({ kind: 'text', text: words, plain: true })

describe('a text', () => {
  it('[I24.im-send] [S7.imessage-mac] arrives as it is written: quotes, newlines, backslashes, dashes; the script never holds it', async () => {
    const hostile = [
      'say "hi" & (do shell script "rm -rf ~")',
      'line one\nline two\r\n\ttab',
      'back\\slash \\" end',
      '-e display dialog',
      '--version',
      "it's $HOME `id` $(id)",
      'ä 🚀 \u200d',
    ]
    for (const words of hostile) await scene.send(KATE, text(words))
    expect(scene.double.calls.map(({ args }) => args[0])).toEqual(hostile)
    expect(new Set(scene.double.calls.map(({ script }) => script)).size).toBe(1)
    for (const { script, args } of scene.double.calls) {
      expect(script).toContain('on run argv')
      expect(args[1]).toBe(`iMessage;-;${KATE}`)
    }
  }, 30_000)

  it('[I24.im-confirm] is sent when its row is there, with its guid; Markdown is shown as plain text', async () => {
    const receipt = await scene.send(KATE, { kind: 'text', text: '**bold** and [a link](https://x.example)' })
    expect(receipt.platformIds).toEqual([expect.stringMatching(/^0{7}\d-/)])
    expect(scene.double.calls[0]?.args[0]).toBe('bold and a link (https://x.example/)')
  })

  it('[I24.im-confirm] with an error in its row it failed, without a row nobody knows, and one that is not sent yet neither', async () => {
    scene.double.answerWith(() => ({ row: { sent: false, error: 22 } }))
    expect(await failure(scene.send(KATE, text('a')))).toMatchObject({
      code: 'platform_rejected',
      message: expect.stringContaining('22'),
    })
    scene.double.answerWith(() => ({ row: false }))
    expect((await failure(scene.send(KATE, text('b')))).code).toBe('outcome_unknown')
    scene.double.answerWith(() => ({ row: { sent: false } }))
    expect((await failure(scene.send(KATE, text('c')))).code).toBe('outcome_unknown')
    scene.double.answerWith(() => ({ row: { text: null, service: 'SMS', inChat: false } }))
    expect((await failure(scene.send(KATE, text('d')))).message).toContain('empty message')
    scene.double.answerWith(() => ({ row: { text: 'another text' } }))
    expect((await failure(scene.send(KATE, text('e')))).code).toBe('outcome_unknown')
  }, 30_000)

  it('[I24.im-confirm] after a crash its row tells that it was sent, also one that comes a moment later; without one it stays unknown', async () => {
    const looked = () =>
      scene.settled(scene.adapter.reconcile?.(REQUEST) ?? Promise.reject(new Error('none')))
    said.push(madeNow())
    expect(await looked()).toEqual({ outcome: 'unknown' })
    const looking = looked()
    const guid = scene.double.put(KATE, { text: 'was it sent?', fromMe: true })
    expect(await looking).toEqual({ outcome: 'sent', receipt: { platformIds: [guid] } })
  })

  it('[I24.im-confirm] the same words of an hour ago are not taken for it, nor is anything where its time is not known', async () => {
    scene.double.put(KATE, { text: 'was it sent?', fromMe: true, at: scene.clock.now() - 3_600_000 })
    const looked = () =>
      scene.settled(scene.adapter.reconcile?.(REQUEST) ?? Promise.reject(new Error('none')))
    expect(await looked()).toEqual({ outcome: 'unknown' })
    said.push(madeNow())
    expect(await looked()).toEqual({ outcome: 'unknown' })
  })

  it('[I24.im-confirm] a database that cannot be read once Messages has it makes it unknown, and never a second message', async () => {
    scene.double.answerWith(() => {
      renameSync(scene.double.dbPath, `${scene.double.dbPath}.away`)
      scene.adapter.link?.renew?.('silent')
      return { row: false }
    })
    expect((await failure(scene.send(KATE, text('once')))).code).toBe('outcome_unknown')
    expect(scene.adapter.link?.state().state).toBe('down')
  })

  it('[I24.im-errors] [I24.im-doctor] errors of osascript are told by what they mean, with the pane', async () => {
    const failureOn = async (error: string) => {
      scene.double.answerWith(() => ({ error }))
      return failure(scene.send('chat77', text('x')))
    }
    scene.double.chat('chat77', { group: true })
    const forbidden = await failureOn('Not authorized to send Apple events to Messages. (-1743)')
    expect(forbidden).toMatchObject({
      code: 'platform_unavailable',
      message: expect.stringContaining('Automation'),
    })
    expect(scene.adapter.checks?.gates?.()).toMatchObject([{ gate: 'Automation', pass: false }])
    expect((await failureOn('Application isn’t running. (-600)')).code).toBe('platform_unavailable')
    expect((await failureOn('AppleEvent timed out. (-1712)')).code).toBe('outcome_unknown')
    expect((await failureOn('Can’t get chat id. (-1728)')).code).toBe('platform_rejected')
    expect((await failureOn('syntax error (-2741)')).code).toBe('platform_rejected')
    scene.double.answerWith(() => ({ hangs: true }))
    expect((await failure(scene.send(KATE, text('x')))).code).toBe('outcome_unknown')
  }, 30_000)

  it('[I24.im-errors] a chat that Messages does not have open is written to by its person; a group never is', async () => {
    scene.double.answerWith(({ script }) =>
      script.includes('chat id') ? { error: 'Can’t get it. (-1728)' } : {},
    )
    await scene.send(KATE, text('hello'))
    expect(scene.double.calls.map(({ args }) => args[1])).toEqual([`iMessage;-;${KATE}`, KATE])
    scene.double.chat('chat88', { group: true })
    await failure(scene.send('chat88', text('hello')))
    expect(scene.double.calls.at(-1)?.args[1]).toBe('iMessage;+;chat88')
    await failure(scene.send('chat99', text('no such group')))
    expect(scene.double.calls).toHaveLength(3)
  })

  it('edits and reactions are refused, and osascript that is not there is told', async () => {
    expect((await failure(scene.send(KATE, { kind: 'edit', on: 'x', text: 'y' }))).code).toBe(
      'platform_rejected',
    )
    expect((await failure(scene.send(KATE, { kind: 'react', on: 'x', emoji: '👍' }))).code).toBe(
      'platform_rejected',
    )
  })
})

describe('a file', () => {
  it('[I24.im-files] is sent from the folder of Messages, confirmed by its row, and taken away there', async () => {
    const ref =
      (await scene.adapter.files?.keep?.({
        name: 'report.txt',
        mime: 'text/plain',
        bytes: Buffer.from('words'),
      })) ?? ''
    let there = false
    scene.double.answerWith(({ args }) => {
      there = existsSync(args[0] ?? '')
      return {}
    })
    const receipt = await scene.send(KATE, { kind: 'file', name: 'report.txt', mime: 'text/plain', ref })
    expect(receipt.platformIds).toHaveLength(1)
    const [call] = scene.double.calls
    expect(call?.script).toContain('POSIX file')
    expect(call?.args[0]).toContain(join('Attachments', 'switchboard'))
    expect(there).toBe(true)
    expect(readdirSync(join(scene.folder, 'Attachments', 'switchboard'))).toEqual([])
  })

  it('[I24.im-files] two at the same moment take nothing from each other', async () => {
    scene.double.chat('chat77', { group: true })
    const ref =
      (await scene.adapter.files?.keep?.({
        name: 'a.txt',
        mime: 'text/plain',
        bytes: Buffer.from('words'),
      })) ?? ''
    const there: boolean[] = []
    scene.double.answerWith(({ args }) => {
      there.push(existsSync(args[0] ?? ''))
      return {}
    })
    const file: OutboundOp = { kind: 'file', name: 'a.txt', mime: 'text/plain', ref }
    const places = new Set<string | undefined>()
    await Promise.all([KATE, 'chat77'].map((conversation) => scene.send(conversation, file)))
    for (const { args } of scene.double.calls) places.add(args[0])
    expect([there, places.size]).toEqual([[true, true], 2])
  })
})
