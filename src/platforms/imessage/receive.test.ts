// Messages from chat.db: rows of every kind, changes in place, a database that misbehaves, and our own messages.
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { TranscriptEntry } from '../../contract/index.ts'
import { typedStream } from '../../testing/imessage/blobs.ts'
import { readBinaryPlist } from './binary-plist.ts'
import { KATE, OWN, openScene, type Scene } from './fixtures/imessage-scene.ts'
import { imessageModule } from './module.ts'
import { textOfBody } from './typed-stream.ts'

let scene: Scene
afterEach(() => scene.close())
const open = async (options: Parameters<typeof openScene>[0] = {}, cursor: string | null = null) => {
  scene = openScene(options)
  await scene.adapter.start(scene.intake, cursor)
  await scene.clock.settle()
}
const last = () => scene.intake.events.at(-1)

describe('rows', () => {
  it('[I24.im-body] attributedBody is decoded whole for every length, and never past its end', () => {
    scene = openScene()
    for (const size of [0, 1, 127, 128, 129, 255, 256, 65_535, 65_536, 70_000]) {
      const text = `${'x'.repeat(Math.max(0, size - 4))}${size >= 4 ? '🚀' : 'x'.repeat(size)}`
      expect([size, textOfBody(typedStream(text)) === text]).toEqual([size, true])
    }
    const whole = typedStream('hello')
    for (let end = 0; end < whole.length - 6; end++)
      expect(() => textOfBody(whole.subarray(0, end))).not.toThrow()
    expect(textOfBody(Buffer.from([0xff, 0xfe, 0x68, 0, 0x69, 0]))).toBe('hi')
    expect(textOfBody(Buffer.from('nonsense'))).toBeNull()
    expect(readBinaryPlist(Buffer.from('bplist00'.padEnd(60, '\xff'), 'latin1'))).toBeUndefined()
  })

  it('[S7.imessage-mac] [I24.im-kinds] direct chats, groups, replies, tapbacks and files come as what they are', async () => {
    await open()
    const guid = scene.double.says(KATE, 'hello')
    await scene.look()
    expect(last()).toMatchObject({
      kind: 'message',
      conversation: KATE,
      chat: 'direct',
      sender: { id: KATE },
      messageId: guid,
      text: 'hello',
      mentioned: true,
    })
    scene.double.chat('chat42', { group: true, name: 'Team' })
    scene.double.put('chat42', { text: 'all', handle: KATE, replyTo: guid })
    await scene.look()
    expect(last()).toMatchObject({
      chat: 'group',
      conversation: 'chat42',
      sender: { id: KATE },
      mentioned: false,
      replyTo: { messageId: guid },
      meta: { chat_title: 'Team' },
    })
    scene.double.put(KATE, { handle: KATE, associatedType: 2000, associatedGuid: `p:0/${guid}` })
    await scene.look()
    expect(last()).toMatchObject({ kind: 'reaction', on: guid, emoji: '❤️' })
    scene.double.put(KATE, { handle: KATE, associatedType: 3000, associatedGuid: `bp:${guid}` })
    await scene.look()
    expect(last()).toMatchObject({ kind: 'reaction', on: guid, emoji: '' })
    const file = join(scene.folder, 'Attachments', 'a.txt')
    writeFileSync(file, 'words')
    scene.double.put(KATE, {
      text: '\uFFFC',
      handle: KATE,
      files: [{ path: file, mime: 'text/plain', name: 'a.txt' }],
    })
    await scene.look()
    const event = last()
    if (event?.kind !== 'message' || !event.attachments?.[0]) throw new Error('no file came')
    expect(event).toMatchObject({ text: '', attachments: [{ name: 'a.txt', kind: 'file' }] })
    expect(await scene.adapter.files?.download?.(event.attachments[0])).toMatchObject({
      name: 'a.txt',
      size: 5,
    })
    scene.double.chat('chat43', { group: true, name: 'x'.repeat(300) })
    scene.double.put('chat43', { text: 'all', handle: KATE })
    await scene.look()
    expect(last()).toMatchObject({ meta: { chat_title: 'x'.repeat(256) } })
    // Its kind and the named row show that it belongs to another row.
    scene.double.put(KATE, { text: 'of no row', handle: KATE, associatedType: 1000 })
    await scene.look()
    expect(last()).toMatchObject({ text: 'of no row' })
    scene.double.put(KATE, { text: 'of its own', handle: KATE, associatedGuid: 'p:0/X' })
    await scene.look()
    expect(last()).toMatchObject({ text: 'of its own' })
    const before = scene.intake.events.length
    scene.double.put('chat42', { text: 'renamed', handle: KATE, itemType: 2 })
    scene.double.put(KATE, { text: 'our own words', fromMe: true })
    scene.double.put(KATE, { text: 'a sticker', handle: KATE, associatedType: 1000, associatedGuid: 'p:0/X' })
    await scene.look()
    expect(scene.intake.events).toHaveLength(before)
  })

  it('[I24.im-kinds] a file outside of the folder of Messages is not read', async () => {
    await open()
    const secret = join(scene.folder, 'id_rsa')
    writeFileSync(secret, 'secret')
    scene.double.put(KATE, { handle: KATE, files: [{ path: secret, mime: 'text/plain', name: 'x' }] })
    await scene.look()
    const event = last()
    if (event?.kind !== 'message' || !event.attachments?.[0]) throw new Error('no file came')
    await expect(scene.adapter.files?.download?.(event.attachments[0])).rejects.toMatchObject({
      code: 'platform_rejected',
    })
  })

  it('[I24.im-edits] an edit is an edit once, an unsent message a deletion', async () => {
    await open()
    const guid = scene.double.says(KATE, 'first')
    const gone = scene.double.says(KATE, 'oops')
    await scene.look()
    scene.double.edit(guid, ['first', 'second'], scene.clock.now())
    await scene.look()
    expect(last()).toMatchObject({
      kind: 'edit',
      messageId: guid,
      text: 'second',
      editVersion: expect.any(Number),
    })
    scene.double.unsend(gone, scene.clock.now())
    await scene.look()
    expect(last()).toMatchObject({ kind: 'delete', messageId: gone })
    const before = scene.intake.events.length
    scene.double.says(KATE, 'third')
    await scene.look()
    expect(scene.intake.events).toHaveLength(before + 1)
  })

  it('[I24.im-sms] SMS and RCS are refused unless allow_sms is set', async () => {
    await open()
    scene.double.says(KATE, 'forged?', { service: 'SMS' })
    scene.double.says(KATE, 'forged too?', { service: 'RCS' })
    await scene.look()
    expect(scene.intake.events).toMatchObject([
      { kind: 'barred', reason: 'sender_unproven', key: 'allow_sms' },
      { kind: 'barred' },
    ])
    await scene.close()
    await open({ options: { allow_sms: true } })
    scene.double.says(KATE, 'taken', { service: 'SMS' })
    await scene.look()
    expect(scene.texts()).toEqual(['taken'])
  })
})

describe('to oneself', () => {
  it('[I24.im-self] [S7.imessage-echo] a message from any device is one turn, and our own answer is none', async () => {
    await open()
    scene.double.chat(OWN)
    // Messages to oneself have two rows on this Mac, and one from another device.
    scene.double.put(OWN, { text: 'two rows', fromMe: true })
    scene.double.put(OWN, { text: 'two rows', handle: OWN })
    scene.double.put(OWN, { text: 'one row', fromMe: true })
    await scene.look()
    expect(scene.texts()).toEqual(['two rows', 'one row'])
    expect(last()).toMatchObject({ sender: { id: OWN }, chat: 'direct' })
    scene.double.answerWith(({ args }) => ({ row: { text: (args[0] ?? '').replaceAll('"', '”') } }))
    await scene.send(OWN, { kind: 'text', text: 'an "answer"' })
    await scene.look()
    expect(scene.texts()).toEqual(['two rows', 'one row'])
    scene.double.put(OWN, { text: 'after it', fromMe: true })
    await scene.look()
    expect(scene.texts()).toEqual(['two rows', 'one row', 'after it'])
  })

  it('[I24.im-self] a file of ours is none either, though it takes its time; words of another device wait for their chat', async () => {
    await open({ timings: { confirmMs: 60_000 } })
    scene.double.chat(OWN)
    const file = { name: 'a.txt', mime: 'text/plain' }
    const ref = (await scene.adapter.files?.keep?.({ ...file, bytes: Buffer.from('words') })) ?? ''
    scene.double.answerWith(() => ({ row: { sent: false } }))
    const sending = scene.send(OWN, { kind: 'file', ...file, ref })
    while (scene.double.calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await scene.look()
    expect(scene.intake.events).toEqual([])
    scene.double.exec('UPDATE message SET is_sent = 1')
    await sending
    await scene.look()
    expect(scene.intake.events).toEqual([])
    const guid = scene.double.put(OWN, { text: 'from my phone', fromMe: true, inChat: false })
    await scene.look()
    expect(scene.intake.events).toEqual([])
    scene.double.join(guid, OWN)
    await scene.look()
    expect(scene.texts()).toEqual(['from my phone'])
  })

  it('[I24.im-self] what a process that died had sent is known after it: by its guid, or by its words', async () => {
    const out: TranscriptEntry[] = []
    await open({ transcript: ({ direction }) => (direction === 'out' ? out : []) })
    scene.double.chat(OWN)
    const entry = { seq: 1, direction: 'out', conversation: OWN, at: 0, text: '', reason: null } as const
    const guid = scene.double.put(OWN, { text: 'confirmed', fromMe: true })
    out.push({ ...entry, id: 'o1', state: 'sent', platformMessageId: guid, op: { kind: 'text', text: 'x' } })
    out.push({ ...entry, id: 'o2', state: 'sending', op: { kind: 'text', text: 'was on its “way”' } })
    scene.double.put(OWN, { text: 'was on its "way"', fromMe: true })
    scene.double.put(OWN, { text: 'mine', fromMe: true })
    await scene.look()
    expect(scene.texts()).toEqual(['mine'])
  })

  it('[I24.im-owner] [S4.default-imessage] own addresses may speak and approve by default; nobody else is told anything', () => {
    scene = openScene()
    const access = imessageModule.defaultAccess
    const given =
      typeof access === 'function' ? access({ addresses: ['+49 (151) 1-2', 'Me@iCloud.example'] }) : access
    expect(given).toEqual({ dm: 'allowlist', allowFrom: ['+4915112', OWN], approvers: ['+4915112', OWN] })
  })
})

describe('the database', () => {
  it('[I24.im-cursor] goes on behind its cursor: what came while it was down is received, once, oldest first', async () => {
    await open()
    scene.double.says(KATE, 'before it began')
    await scene.look()
    scene.double.says(KATE, 'one')
    await scene.look()
    await scene.adapter.stop()
    const cursor = scene.intake.cursors.at(-1) ?? null
    scene.double.says(KATE, 'two')
    scene.double.says(KATE, 'three')
    const later = scene.again()
    await later.start(scene.intake, cursor)
    await scene.look()
    expect(scene.texts()).toEqual(['before it began', 'one', 'two', 'three'])
    await later.stop()
  })

  it('[I24.im-cursor] where it began is kept before anything came: what comes during the first downtime is received', async () => {
    scene = openScene()
    scene.double.says(KATE, 'before it began')
    await scene.adapter.start(scene.intake, null)
    await scene.clock.settle()
    await scene.adapter.stop()
    scene.double.says(KATE, 'while it was down')
    const later = scene.again()
    await later.start(scene.intake, scene.intake.cursors.at(-1) ?? null)
    await scene.look()
    expect(scene.texts()).toEqual(['while it was down'])
    await later.stop()
  })

  it('[I24.im-cursor] what cannot be stored is read again, and the cursor does not pass it', async () => {
    await open()
    const kept = [...scene.intake.cursors]
    scene.intake.failWith(new Error('the disk is full'))
    scene.double.says(KATE, 'kept')
    await scene.look()
    expect(scene.intake.cursors).toEqual(kept)
    scene.intake.failWith(null)
    await scene.look(10_000)
    expect(scene.texts()).toEqual(['kept'])
  })

  it('[I24.im-join-late] a message whose chat is written later waits for it; one that never gets one is told', async () => {
    await open()
    const guid = scene.double.put(KATE, { text: 'late chat', handle: KATE, inChat: false })
    scene.double.says(KATE, 'behind it')
    await scene.look()
    expect(scene.texts()).toEqual([])
    scene.double.join(guid, KATE)
    await scene.look()
    expect(scene.texts()).toEqual(['late chat', 'behind it'])
    scene.double.put(KATE, { text: 'no chat', handle: KATE, inChat: false })
    await scene.look()
    await scene.look(6_000)
    expect(last()).toMatchObject({ kind: 'unparsable' })
  })

  it('[I24.im-locked] renumbered, it is found again by its last guid; what was said before we came is not received', async () => {
    await open()
    scene.double.says(KATE, 'one')
    await scene.look()
    scene.double.exec(
      'UPDATE message SET ROWID = ROWID + 500; UPDATE chat_message_join SET message_id = message_id + 500',
    )
    scene.double.says(KATE, 'an old one, recovered', { at: scene.clock.now() - 90 * 86_400_000 })
    scene.double.says(KATE, 'two')
    scene.adapter.link?.renew?.('the test')
    await scene.look()
    expect(scene.texts()).toEqual(['one', 'two'])
    expect(scene.log.lines.join('\n')).toContain('renumbered')
  })

  it('[I24.im-locked] [I24.im-doctor] absent, not allowed, locked or of an unknown form: told with the pane, and well again by itself', async () => {
    scene = openScene()
    const { double, adapter, intake } = scene
    double.says(KATE, 'one')
    const aside = `${double.dbPath}.aside`
    renameSync(double.dbPath, aside)
    await adapter.start(intake, null)
    await scene.clock.settle()
    expect(adapter.link?.state()).toMatchObject({
      state: 'down',
      detail: expect.stringContaining('Full Disk Access'),
    })
    expect(adapter.checks?.gates?.()).toMatchObject([{ gate: 'Full Disk Access', pass: false }])
    await expect(
      adapter.send({
        to: { integration: 'im', conversation: KATE },
        op: { kind: 'text', text: 'x' },
        key: 'k',
        seq: 1,
      }),
    ).rejects.toMatchObject({ code: 'platform_unavailable' })
    renameSync(aside, double.dbPath)
    await scene.look(10_000)
    expect(adapter.link?.state().state).toBe('up')
    double.exec('ALTER TABLE message RENAME COLUMN error TO error_of_a_newer_macos')
    adapter.link?.renew?.('the test')
    await scene.look()
    expect(adapter.link?.state()).toMatchObject({
      state: 'down',
      detail: expect.stringContaining('newer macOS'),
    })
    double.exec('ALTER TABLE message RENAME COLUMN error_of_a_newer_macos TO error')
    await scene.look(10_000)
    expect(adapter.link?.state().state).toBe('up')
    double.says(KATE, 'two')
    await scene.look()
    expect(scene.texts()).toEqual(['two'])
  })

  it('[I24.im-locked] locked by another program it is tried again, and nothing is lost', async () => {
    scene = openScene()
    scene.double.says(KATE, 'before')
    scene.double.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
    await scene.adapter.start(scene.intake, null)
    await scene.clock.settle()
    expect(scene.adapter.link?.state()).toMatchObject({
      state: 'down',
      detail: expect.stringContaining('locked'),
    })
    scene.double.exec('COMMIT; PRAGMA journal_mode = WAL')
    await scene.look(10_000)
    expect(scene.adapter.link?.state().state).toBe('up')
    scene.double.says(KATE, 'after the lock')
    await scene.look()
    expect(scene.texts()).toEqual(['after the lock'])
  })

  it('[I24.im-elsewhere] [S7.imessage-elsewhere] on another system it is a clear error', () => {
    scene = openScene()
    expect(() => openScene({ system: 'linux' })).toThrow('needs macOS with Messages; this system is linux')
    if (process.platform !== 'darwin')
      expect(imessageModule.doctor?.({} as never, { publicUrl: null })).toMatchObject([
        { pass: false, reason: expect.stringContaining('macOS') },
      ])
  })
})
