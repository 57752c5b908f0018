// Texts that must not delay the daemon: long texts, long edits, and property lists that expand when they are built.
import { afterEach, expect, it } from 'vitest'
import { binaryPlist, typedStream } from '../../testing/imessage/blobs.ts'
import { readBinaryPlist } from './binary-plist.ts'
import { MOST_SUMMARY_BYTES, MOST_TEXT } from './chat-db.ts'
import { KATE, openScene, type Scene } from './fixtures/imessage-scene.ts'

let scene: Scene
afterEach(() => scene.close())
const open = async () => {
  scene = openScene()
  await scene.adapter.start(scene.intake, null)
  await scene.clock.settle()
}
const last = () => scene.intake.events.at(-1)

it('[I35.a3-imessage] of a longer text the beginning comes, and says so', async () => {
  await open()
  for (const letter of ['a', 'ä', '日', '🚀']) {
    const longest = letter.repeat(MOST_TEXT / letter.length)
    scene.double.says(KATE, longest)
    await scene.look()
    expect(last()).toMatchObject({ kind: 'message', text: longest })
    scene.double.says(KATE, `${longest}${letter}`)
    await scene.look()
    const event = last()
    const text = event?.kind === 'message' ? event.text : ''
    expect(text).toMatch(/\(cut: the message was longer than 100000 characters\)$/)
    expect(text.startsWith(longest.slice(0, MOST_TEXT - 200))).toBe(true)
    expect(text.length).toBeLessThanOrEqual(MOST_TEXT)
    expect(text).not.toContain('\uFFFD')
    scene.double.says(KATE, letter.repeat(3_000_000))
    await scene.look()
    expect(last()).toMatchObject({ kind: 'message', text })
  }
})

it('[I35.a3-imessage] an edit that is too long to be read is told as such, and those that come after it are read', async () => {
  await open()
  const guid = scene.double.says(KATE, 'short')
  await scene.look()
  scene.double.edit(guid, ['short', 'x'.repeat(MOST_SUMMARY_BYTES)], scene.clock.now())
  await scene.look()
  // It gave no message, and is not read again with every later message.
  scene.double.says(KATE, 'next')
  await scene.look()
  expect(scene.texts()).toEqual(['short', 'next'])
  // A message that is seen for the first time is recorded.
  const later = scene.double.says(KATE, 'later')
  scene.double.edit(later, ['later', 'x'.repeat(MOST_SUMMARY_BYTES)], scene.clock.now())
  await scene.look()
  expect(last()).toMatchObject({
    kind: 'unparsable',
    messageId: later,
    problem: expect.stringContaining(`its edits are longer than ${MOST_SUMMARY_BYTES} bytes`),
  })
})

it('[I35.a3-imessage] a property list is built of no more than a few times its own bytes', () => {
  scene = openScene()
  const long = 'x'.repeat(MOST_SUMMARY_BYTES / 2)
  const once = binaryPlist([long, 'a'])
  expect(readBinaryPlist(once)).toEqual([long, 'a'])
  // Each element references the same text.
  const bomb = Buffer.from(binaryPlist([long, ...Array.from({ length: 9_000 }, () => 'a')]))
  const from = bomb.indexOf(Buffer.from([0xaf, 0x12])) + 6
  for (let at = 0; at < 9_001; at++) bomb.writeUInt16BE(1, from + at * 2)
  expect(readBinaryPlist(bomb)).toBeUndefined()
  // A number of 32,768 bytes.
  const number = Buffer.from(binaryPlist([typedStream('x'.repeat(40_000))]))
  number[number.indexOf(Buffer.from([0x4f, 0x12]))] = 0x1f
  expect(readBinaryPlist(number)).toBeUndefined()
})
