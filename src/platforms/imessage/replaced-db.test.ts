// chat.db is moved away, replaced, or changed during reading: each is reported correctly, and nothing is lost or
// repeated.
import { renameSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { KATE, openScene, type Scene } from './fixtures/imessage-scene.ts'

let scene: Scene
afterEach(() => scene.close())
const open = async () => {
  scene = openScene({ timings: { confirmMs: 3_000 } })
  await scene.adapter.start(scene.intake, null)
  await scene.clock.settle()
}
const says = async (...texts: readonly string[]) => {
  for (const text of texts) scene.double.says(KATE, text)
  await scene.look()
}
/** Row 701 becomes the 12th, and the next one the 13th. */
const renumber = () => {
  scene.double.exec(
    'UPDATE message SET ROWID = 12 WHERE ROWID = 701; UPDATE chat_message_join SET message_id = 12 WHERE message_id = 701',
  )
  scene.double.exec("UPDATE sqlite_sequence SET seq = 12 WHERE name = 'message'")
}
const moved = (to: (path: string) => readonly [string, string]) => {
  for (const end of ['', '-wal', '-shm']) renameSync(...to(scene.double.dbPath + end))
}

describe('[I24.im-replaced] chat.db', () => {
  it('moved away is told as down, and what was said meanwhile is received when it is back', async () => {
    await open()
    await says('one')
    moved((path) => [path, `${path}.away`])
    await says('two')
    expect(scene.adapter.link?.state()).toMatchObject({
      state: 'down',
      detail: expect.stringContaining('not at its path any more'),
    })
    expect(scene.adapter.checks?.gates?.()).toMatchObject([{ pass: false }])
    expect(scene.texts()).toEqual(['one'])
    await expect(scene.send(KATE, { kind: 'text', text: 'x' })).rejects.toMatchObject({
      code: 'platform_unavailable',
    })
    moved((path) => [`${path}.away`, path])
    await scene.look(10_000)
    expect(scene.adapter.link?.state().state).toBe('up')
    await says('three')
    expect(scene.texts()).toEqual(['one', 'two', 'three'])
  })

  it('restored from before what was read last: new rows have lower numbers and are heard, also after a restart', async () => {
    await open()
    await says('one')
    const backup = scene.double.backup()
    await says('two', 'three', 'four')
    scene.double.restore(backup)
    const connects = scene.intake.connects()
    await says('five')
    expect(scene.texts()).toEqual(['one', 'two', 'three', 'four', 'five'])
    // Its missing and additional messages are compared with the received ones.
    expect(scene.intake.connects()).toBe(connects + 1)
    await scene.adapter.stop()
    scene.double.says(KATE, 'six')
    const later = scene.again()
    await later.start(scene.intake, scene.intake.cursors.at(-1) ?? null)
    await scene.look()
    expect(scene.texts().slice(4)).toEqual(['five', 'six'])
    await later.stop()
  })

  it('restored, and stopped before anything new came: where it goes on was kept', async () => {
    await open()
    await says('one')
    const backup = scene.double.backup()
    await says('two', 'three')
    scene.double.restore(backup)
    await scene.look()
    await scene.adapter.stop()
    // From a phone that was offline: written before the last message that was read.
    scene.double.says(KATE, 'late', { at: scene.clock.now() - 10_000 })
    const later = scene.again()
    await later.start(scene.intake, scene.intake.cursors.at(-1) ?? null)
    await scene.look()
    expect(scene.texts()).toEqual(['one', 'two', 'three', 'late'])
    await later.stop()
  })

  it('replaced by one that is numbered anew: it goes on behind the last message that is known', async () => {
    await open()
    await says('one')
    scene.double.exec("UPDATE sqlite_sequence SET seq = 700 WHERE name = 'message'")
    await says('two')
    const backup = scene.double.backup()
    scene.double.restore(backup)
    renumber()
    await says('three')
    expect(scene.texts()).toEqual(['one', 'two', 'three'])
  })

  it('numbered anew in the same file is noticed without a restart', async () => {
    await open()
    await says('one')
    scene.double.exec("UPDATE sqlite_sequence SET seq = 700 WHERE name = 'message'")
    await says('two')
    renumber()
    await says('three')
    expect(scene.texts()).toEqual(['one', 'two', 'three'])
  })

  it('without the message that was read last (deleted by its owner) goes on, and repeats nothing', async () => {
    await open()
    await says('one')
    await says('two')
    scene.double.exec("DELETE FROM message WHERE guid LIKE '00000002%'")
    scene.double.says(KATE, 'late', { at: scene.clock.now() - 10_000 })
    await says('three')
    expect(scene.texts()).toEqual(['one', 'two', 'late', 'three'])
  })

  it('replaced while something is sent: the same words of before, with a higher number, are not taken for it', async () => {
    await open()
    scene.double.put(KATE, { text: 'yes', fromMe: true, at: scene.clock.now() - 60_000 })
    scene.double.exec('UPDATE message SET ROWID = 900; UPDATE chat_message_join SET message_id = 900')
    const older = scene.double.backup()
    scene.double.exec('DELETE FROM message; DELETE FROM chat_message_join')
    await scene.look()
    scene.double.answerWith(() => {
      queueMicrotask(() => scene.double.restore(older))
      return { row: false }
    })
    await expect(scene.send(KATE, { kind: 'text', text: 'yes' })).rejects.toMatchObject({
      code: 'outcome_unknown',
    })
  })
})
