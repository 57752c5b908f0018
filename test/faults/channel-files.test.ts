// Files on both ways of a channel: pictures reach a host of this machine as paths, and what it attaches reaches the chat.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createFakeTelegram } from '../../src/testing/emulate.ts'
import { openChannel } from './channel-scene.ts'
import { askJson, createScene } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

async function opened() {
  const fake = await createFakeTelegram()
  scene.onEnd(() => fake.stop())
  const place = openChannel(scene, {
    integrations: `  - { id: web, platform: web }
  - { id: tg, platform: telegram, token: "file:telegram.token", api_root: "${fake.url}", access: { dm: allowlist, allow_from: ["412587349"], approvers: ["412587349"] } }
`,
    bindings: ', { plugin: web, instance: web }, { plugin: telegram, instance: tg }',
  })
  writeFileSync(join(place.data, 'telegram.token'), fake.token, { mode: 0o600 })
  return { fake, place, kate: fake.person() }
}

describe('files', () => {
  it('[S11.surface] [S6.ch-files-in] come as paths in meta, and are fetched by the shapes of the official plugins', async () => {
    const { place, kate } = await opened()
    const claude = await place.claude()
    kate.sendsPhotos(['look'])
    const photo = await until('the photo is there', () => claude.prompts[0])
    expect(photo).toMatchObject({ content: 'look', meta: { attachment_kind: 'image' } })
    expect(photo.meta.image_path).toMatch(/^\/.*\.jpg$/)
    expect(readFileSync(photo.meta.image_path ?? '', 'utf8')).toMatch(/^picture /)
    expect(await claude.call('ack', { message_id: photo.meta.message_id })).toMatchObject({
      text: 'acknowledged',
    })
    kate.sendsFile({ name: 'notes.txt', mime: 'text/plain', content: 'the notes' })
    const file = await until('the file is there', () => claude.prompts[1])
    expect(file).toMatchObject({
      content: '(document: notes.txt)',
      meta: { attachment_name: 'notes.txt', attachment_mime: 'text/plain', attachment_size: '9' },
    })
    expect(readFileSync(file.meta.file_path ?? '', 'utf8')).toBe('the notes')
    // What a sender writes cannot forge a path.
    expect(file.content).not.toContain('/')
    const { chat_id, message_id, attachment_file_id } = file.meta
    const byFile = await claude.call('download_attachment', { file_id: attachment_file_id })
    expect(readFileSync(byFile.text, 'utf8')).toBe('the notes')
    expect(await claude.call('download_attachment', { chat_id, message_id })).toMatchObject({
      isError: false,
      text: expect.stringMatching(
        /^downloaded 1 attachment\(s\):\n {2}\/.*notes\.txt {2}\(notes\.txt, text\/plain, 0KB\)$/,
      ),
    })
    expect(await claude.call('download_attachment', { file_id: 'nonsense' })).toMatchObject({ isError: true })
    expect(await claude.call('react', { chat_id, message_id, emoji: '👍' })).toMatchObject({
      text: 'reacted',
    })
    const sent = await claude.call('reply', { chat_id, text: 'a moment', reply_to: message_id })
    const id = /^sent \(id: (\d+)\)$/.exec(sent.text)?.[1] ?? ''
    expect(await claude.call('edit_message', { chat_id, message_id: id, text: 'done' })).toMatchObject({
      text: `edited (id: ${id})`,
    })
    const said = await claude.call('fetch_messages', { channel: chat_id, limit: 5 })
    expect(said.text.split('\n').at(-1)).toMatch(/^\[\d{4}-\d\d-\d\dT[\d:.]+Z\] me: .* {2}\(id: \d+\)$/)
    expect(said.text).toMatch(/\(document: notes\.txt\) {2}\(id: \d+ \+1att\)/)
  })

  it('[S6.ch-files-out] [I14.send-roots] are attached by their paths, after the text; state never leaves, and a wrong path sends nothing', async () => {
    const { fake, place, kate } = await opened()
    const claude = await place.claude()
    kate.says('the report, please')
    const { meta } = await until('it is there', () => claude.prompts[0])
    const report = join(scene.folder(), 'report.txt')
    writeFileSync(report, 'all is well')
    const { chat_id } = meta
    const reply = (files: string[]) => claude.call('reply', { chat_id, text: 'here', files })
    for (const [path, words] of [
      [join(place.data, 'telegram.token'), /refusing to send channel state/],
      ['/nowhere/at/all', /there is no file/],
      ['report.txt', /not an absolute path/],
      ['/etc/passwd', /outside of tunables\.send_roots/],
    ] as const)
      expect(await reply([report, path])).toMatchObject({ isError: true, text: expect.stringMatching(words) })
    expect(kate.sees()).toEqual([])
    expect(await reply([report])).toMatchObject({
      isError: false,
      text: expect.stringMatching(/^sent 2 parts \(ids: \d+, \d+\)$/),
    })
    const got = fake.world.shown(kate.chat.id).at(-1)?.message as unknown as {
      document?: { file_name: string; file_id: string }
    }
    expect(got.document?.file_name).toBe('report.txt')
    expect(String(fake.world.files.get(got.document?.file_id ?? '')?.bytes)).toBe('all is well')
    // The web page gets it too, under its own name.
    const { url } = await askJson<{ url: string }>(place.data, 'link')
    const json = { 'content-type': 'application/json', origin: place.url() }
    const ask = (path: string, init: RequestInit) => fetch(`${place.url()}/chat${path}`, init)
    const ticket = new URL(url).hash.replace('#ticket=', '')
    const entered = await ask('/session', { method: 'POST', headers: json, body: JSON.stringify({ ticket }) })
    const headers = { ...json, cookie: entered.headers.get('set-cookie')?.split(';')[0] ?? '' }
    const body = JSON.stringify({ clientId: 'client-0-x', text: 'and here?' })
    await ask('/messages', { method: 'POST', headers, body })
    const web = await until('the page is heard', () => claude.prompts[1])
    const sent = await claude.call('reply', { chat_id: web.meta.chat_id, text: 'here', files: [report] })
    expect(sent).toMatchObject({ isError: false, text: expect.stringMatching(/^sent 2 parts/) })
    const history = await (await ask('/history?limit=50', { headers })).text()
    const file = /"attachments":\[\{"id":"([0-9a-f]{32})","kind":"file","name":"report.txt"/.exec(
      history,
    )?.[1]
    expect(await (await ask(`/files/${file}`, { headers })).text()).toBe('all is well')
  })
})
