// Discord with the real daemon and the built command line: the page followed from zero as a new user would, and kill -9 in the
// middle. The API is the emulator's, so it outlives the daemon as Discord does.
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createFakeDiscord } from '../../src/testing/emulate.ts'
import { BINARY, bareEnvironment } from './daemon.ts'
import { expectLedgerHolds, settled, turnsOf } from './river-checks.ts'
import { askJson, askLines, createScene, run, switchboard } from './scene.ts'
import { until } from './until.ts'

const PAGE = readFileSync(new URL('../../docs/platforms/discord.md', import.meta.url), 'utf8')
const WRITTEN_URL = 'http://127.0.0.1:8081'
const scene = createScene()

/** The first one whose text begins with these words, after the heading. */
function block(kind: string, begins: string): string {
  const section = PAGE.slice(PAGE.indexOf('## From zero'))
  const [, found = ''] = new RegExp(`\`\`\`${kind}\\n(${begins}[\\s\\S]*?)\`\`\``).exec(section) ?? []
  expect(found, `the page has no ${kind} with ${begins}`).not.toBe('')
  return found
}

async function emulate(data: string): Promise<{ readonly url: string; readonly said: string }> {
  const child = spawn(process.execPath, [BINARY, 'emulate', 'discord', '--port', '0'], {
    cwd: data,
    env: bareEnvironment(),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  scene.onEnd(async () => {
    child.kill('SIGTERM')
    await ended
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const url = await until('the emulator', () => /discord is emulated at (\S+)[\s\S]*_link/.exec(said)?.[1])
  return { url, said }
}

describe('the page of Discord', () => {
  it('[I20.from-zero] [I20.invite] emulator, configuration, pairing, an answer, an approval, a lost session and the invitation, as written', async (context) => {
    if ((await run('sh', ['-c', 'command -v curl'], '.')).code !== 0)
      return context.skip('curl is not installed')
    const data = scene.folder()
    const { url, said } = await emulate(data)
    const here = (text: string) => text.replaceAll(WRITTEN_URL, url)
    const config = join(data, 'switchboard.yaml')
    writeFileSync(config, here(block('yaml', 'integrations:')))
    const [, token = ''] = /^export DISCORD_BOT_TOKEN=(\S+)$/m.exec(block('sh', 'export')) ?? []
    expect(said).toContain(`DISCORD_BOT_TOKEN=${token}`)
    await scene.start({ data, config, env: { DISCORD_BOT_TOKEN: token } })

    const lines = [...PAGE.matchAll(/curl \S+\/_\w+(?:\/\d+)?(?: -d '[^']+')?/g)].map(([line]) => line)
    const [hello = '', look = '', deaf = '', lost = ''] = lines
    expect([hello, look, deaf, lost].map((line) => /_\w+/.exec(line)?.[0])).toEqual([
      '_person',
      '_channel',
      '_link',
      '_link',
    ])
    const person = (line: string) => run('sh', ['-c', here(line).replace('curl', 'curl -sS')], data)
    const asked = async (address: string) => (await fetch(address)).text()
    const chat = here(look).replace('curl ', '')
    const sees = (part: string) => until(part, async () => (await asked(chat)).includes(part))

    await until('the link', async () => (await asked(`${url}/_link`)).includes('"open":1'))
    expect(JSON.parse((await person(hello)).stdout)).toMatchObject({ ok: true })
    await sees('pair')
    const [pending] = await askLines<{ readonly code: string }>(data, 'pair', 'list')
    expect((await switchboard(data, 'pair', 'approve', pending?.code ?? '', '--me')).code).toBe(0)
    await person(hello)
    await sees('You said: hello')
    await person(hello.replace('hello', 'deploy'))
    await sees('demo wants to run Deploy')
    await person(hello.replace('"text":"hello"', '"tap":"Allow"'))
    await sees('🚀 Deployed')
    // That what was said meanwhile comes after all takes minutes: test/scenarios/discord-deaf.test.ts has it on a quicker clock.
    await person(deaf)
    await person(lost)
    await until('a second session', async () => (await asked(`${url}/_link`)).includes('"identified":2'))

    const pasted = await switchboard(data, 'integrations', 'paste', 'discord')
    expect(pasted.stdout).toContain('permissions=309237763136')
    expect(pasted.stdout).toContain('Message Content Intent')
    const more = ['--id', 'again', '--agent', 'demo', '--set', `api_url=${url}/api`]
    const added = await switchboard(data, 'integrations', 'add', 'discord', '--token', token, ...more)
    expect(added.stderr).toContain('this is @switchboard')
    expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining('again (discord)') })
    const checked = JSON.stringify(await askJson(data, 'doctor'))
    expect(checked).toContain('all 8 permissions are granted in 1 server')
    expect(checked).toContain('Message Content is switched on')
    for (const text of [pasted.stdout, added.stdout, added.stderr, checked]) expect(text).not.toContain(token)
  })
})

describe('kill -9', () => {
  it('[I20.killed] [I20.session-kept] in the middle of a conversation: the session is resumed, nothing is lost and nothing said twice', async () => {
    const fake = await createFakeDiscord({ heartbeatMs: 5_000 })
    scene.onEnd(() => fake.stop())
    const kate = fake.person()
    const data = scene.folder()
    const config = join(data, 'switchboard.yaml')
    writeFileSync(
      config,
      `integrations:
  - id: discord
    platform: discord
    token: env:DISCORD_BOT_TOKEN
    api_url: ${fake.apiUrl}
    access: { dm: allowlist, allow_from: ["${kate.user.id}"], approvers: ["${kate.user.id}"] }
agents:
  - { id: demo, connector: { type: demo }, inbound_bindings: [{ plugin: discord, instance: discord }] }
`,
    )
    const start = () => scene.start({ data, config, env: { DISCORD_BOT_TOKEN: fake.token } })
    const sees = (word: string) => kate.sees().filter((text) => text.includes(`You said: ${word}.`)).length
    let daemon = await start()
    await until('the link', () => fake.gateway.open() === 1)
    kate.says('one.')
    await until('the first', () => sees('one') > 0)
    await settled(data)
    const words = ['one']
    for (const round of [1, 2]) {
      await daemon.kill9()
      for (let at = 0; at < 5; at++) {
        words.push(`r${round}m${at}`)
        kate.says(`r${round}m${at}.`)
      }
      daemon = await start()
      await until('resumed', () => fake.gateway.counts().resumed === round)
      // Killed again while these are on their way.
      if (round === 1) await until('some', () => sees('r1m0') > 0)
    }
    await until('all', () => words.every((word) => sees(word) > 0))
    await settled(data)
    expect(words.map((word) => [word, sees(word)])).toEqual(words.map((word) => [word, 1]))
    expect(fake.gateway.counts().identified).toBe(1)
    const turns = await turnsOf(data)
    expect(turns.map(({ state }) => state)).toEqual(words.map(() => 'answered'))
    await expectLedgerHolds(data)
    expect(daemon.stderr()).not.toContain(fake.token)
    await daemon.terminate()
  })
})
