// `import claude-access` and `emulate telegram`: what they print, and what they refuse.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { loadText } from '../config/fixtures/load-text.ts'
import { runEmulate } from './commands/setup/emulate.ts'
import { createContext } from './context.ts'
import { command, rememberingTerminal, startFakeDaemon, temporaryFolder } from './fixtures/fake-daemon.ts'

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder.done())

const write = (access: unknown) =>
  writeFileSync(
    join(folder.path, 'access.json'),
    typeof access === 'string' ? access : JSON.stringify(access),
  )

const ACCESS = {
  dmPolicy: 'allowlist',
  allowFrom: ['412587349', 77],
  groups: {
    '-1001': { requireMention: false, allowFrom: ['5'] },
    '-1002': { requireMention: true, allowFrom: [] },
  },
  pending: { a1b2c3: { senderId: '9', chatId: '9', createdAt: 1, expiresAt: 2, replies: 1 } },
  mentionPatterns: ['^hey bot'],
  ackReaction: '👀',
  replyToMode: 'first',
  textChunkLimit: 2000,
  chunkMode: 'newline',
}

describe('[S4.import-claude-access] import claude-access', () => {
  it('[S14.cli-import] prints a block that the configuration takes as it stands', async () => {
    write(ACCESS)
    const { code, out, err } = await command(['import', 'claude-access', folder.path])
    expect(code).toBe(0)
    expect(out, 'the same list twice, not an alias').not.toMatch(/[&*]a\d/)
    const block = parse(out) as Record<string, unknown>
    expect(block).toEqual({
      access: {
        dm: 'allowlist',
        allow_from: ['412587349', '77'],
        approvers: ['412587349', '77'],
        groups: {
          '-1001': { require_mention: false, allow_from: ['5'] },
          '-1002': { require_mention: true, allow_from: ['*'] },
        },
        mention_patterns: ['^hey bot'],
      },
      ack_reaction: '👀',
      reply_to_mode: 'first',
      text_chunk_limit: 2000,
    })
    expect(err).toContain('1 pairing code that waited')
    const indented = out.replace(/^(?=.)/gm, '    ')
    const loaded = loadText(
      `integrations:\n  - id: tg\n    platform: telegram\n    token: env:T\n${indented}`,
    )
    expect(loaded.ok).toBe(true)
  })

  it('says of everything that does not come along that it does not', async () => {
    write({
      ...ACCESS,
      dmPolicy: 'disabled',
      textChunkLimit: 10,
      autoThread: true,
      groups: { '-1': { allowFrom: [], topics: ['x'] } },
    })
    const told = [
      '1 pairing code that waited: those senders are given a new one',
      '1 group: there, dmPolicy disabled closes them as well',
      'textChunkLimit 10: 64 is the smallest there is here',
      'chunkMode newline: long texts are always split at a paragraph, a line or a word where there is one',
      'autoThread: not known here',
      'groups.-1.topics: not known here',
    ]
    const { code, err } = await command(['import', 'claude-access', folder.path])
    expect(code).toBe(0)
    for (const one of told) expect(err).toContain(`not carried over: ${one}`)
    const { lines } = await command(['import', 'claude-access', folder.path, '--json'])
    expect(lines[0]).toMatchObject({ not_carried_over: told })
    write({ allowFrom: ['1'], textChunkLimit: 200_000, mentionPatterns: ['^hey', '(broken'] })
    const bent = await command(['import', 'claude-access', folder.path, '--json'])
    expect(bent.lines[0]).toEqual({
      access: { dm: 'pairing', allow_from: ['1'], approvers: ['1'], mention_patterns: ['^hey'] },
      text_chunk_limit: 100_000,
      not_carried_over: [
        'textChunkLimit 200000: 100000 is the largest there is here',
        'mentionPatterns (broken: not a regular expression here',
      ],
    })
    write({ allowFrom: ['1'], chunkMode: 'length' })
    expect((await command(['import', 'claude-access', folder.path])).err).toContain('chunkMode length')
    write({ allowFrom: ['1'] })
    expect((await command(['import', 'claude-access', folder.path])).err).not.toContain('carried over')
  })

  it('grants at once, and opens nothing that was closed', async () => {
    write({ ...ACCESS, dmPolicy: 'disabled' })
    const closed = await command(['import', 'claude-access', join(folder.path, 'access.json'), '--json'])
    expect(closed.lines[0]).toMatchObject({ access: { dm: 'disabled' } })
    expect(closed.out).not.toContain('-1001')
    const data = temporaryFolder()
    const daemon = await startFakeDaemon(data.path, { 'POST /api/access/grant': { ok: true } })
    const { code } = await command([
      'import',
      'claude-access',
      folder.path,
      '--grant',
      'tg',
      '--data',
      data.path,
    ])
    expect(code).toBe(0)
    expect(daemon.asked.map(({ body }) => body)).toEqual([
      { integration: 'tg', sender: '412587349', right: 'talk' },
      { integration: 'tg', sender: '77', right: 'talk' },
    ])
    await daemon.close()
    data.done()
  })

  it('an empty file has the defaults of the plugins', async () => {
    write({})
    const { lines } = await command(['import', 'claude-access', folder.path, '--json'])
    expect(lines).toEqual([{ access: { dm: 'pairing', allow_from: [], approvers: [] } }])
  })

  it.each([
    ['{ not json', 'is not JSON'],
    ['[]', 'expected an object'],
    [{ dmPolicy: 'open' }, '"dmPolicy" is not pairing, allowlist or disabled'],
    [{ allowFrom: 'kate' }, '"allowFrom" is not a list of ids'],
    [{ groups: { '-1': { requireMention: 'yes' } } }, '"groups.-1.requireMention" is not true or false'],
    [{ textChunkLimit: 'x' }, '"textChunkLimit" is not a positive number'],
  ])('%j is refused: %s', async (access, problem) => {
    write(access)
    const { code, out, err } = await command(['import', 'claude-access', folder.path])
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(problem)
  })

  it('says where to look when there is nothing', async () => {
    const { code, err } = await command(['import', 'claude-access', join(folder.path, 'none')])
    expect(code).toBe(2)
    expect(err).toContain('hint: give the folder of the plugin')
  })
})

describe('[S14.cli-emulate] emulate telegram', () => {
  it('runs until it is stopped, takes what is typed, and prints what the bot says', async () => {
    const terminal = rememberingTerminal()
    const context = createContext(terminal, {})
    let stop = () => {}
    let type = (_line: string) => {}
    const done = runEmulate(
      context,
      'telegram',
      { port: '0' },
      {
        onStop: (run) => {
          stop = run
        },
        onLine: (run) => {
          type = run
        },
      },
    )
    while (!terminal.printed.out.includes('_chat/')) await new Promise((resolve) => setTimeout(resolve, 5))
    const url = /emulated at (\S+)/.exec(terminal.printed.out)?.[1] ?? ''
    const token = /TELEGRAM_BOT_TOKEN=(\S+)/.exec(terminal.printed.out)?.[1] ?? ''
    // One line that sets it up where a daemon runs.
    expect(terminal.printed.out).toContain(
      `switchboard integrations add telegram --id tg --agent AGENT --set api_root=${url}\n`,
    )
    type('hello bot')
    type('!tap Nothing')
    expect(terminal.printed.err).toContain('there is no button "Nothing"')
    const ask = async (path: string, init?: RequestInit) =>
      (await fetch(url + path, init)).json() as Promise<unknown>
    expect(await ask(`/bot${token}/getUpdates`)).toMatchObject({
      ok: true,
      result: [{ message: { text: 'hello bot' } }],
    })
    await ask(`/bot${token}/sendMessage?chat_id=412587349&text=hi`)
    expect(terminal.printed.out).toContain('sendMessage: hi')
    const said = await ask('/_person', { method: 'POST', body: '{"text":"by curl"}' })
    expect(said).toMatchObject({ ok: true })
    expect(await ask('/_chat/412587349')).toMatchObject({
      messages: [{ text: 'hello bot' }, { text: 'hi' }, { text: 'by curl' }],
    })
    const foreign = await fetch(`${url}/_person`, {
      method: 'POST',
      body: '{"text":"x"}',
      headers: { origin: 'https://evil.example' },
    })
    expect(foreign.status).toBe(403)
    expect((await fetch(`${url}/_person`, { method: 'POST', body: '{}' })).status).toBe(400)
    stop()
    expect(await done).toBe(0)
  })

  it.each([
    [['emulate', 'slak'], 'there is no emulator of "slak"'],
    [['emulate', 'telegram', '--port', 'x'], '"x" is not a port'],
    [['emulate', 'telegram', '--fault', '/nonexistent.json'], 'cannot read the fault plan'],
  ])('%j is refused: %s', async (words, problem) => {
    const { code, err } = await command(words)
    expect(code).toBe(2)
    expect(err).toContain(problem)
  })

  it('names the rule of a fault plan that does not hold', async () => {
    const file = join(folder.path, 'plan.json')
    writeFileSync(file, '[{"on":"sendMessage","do":"explode"}]')
    const { code, err } = await command(['emulate', 'telegram', '--fault', file])
    expect(code).toBe(2)
    expect(err).toContain('rule 1 needs "do", one of: rate-limit')
  })

  it('[S14.cli-emulate] without a name it tells what there is; a port that is taken is told, of every one of them', async () => {
    const none = await command(['emulate'])
    expect([none.code, none.out]).toEqual([2, ''])
    const { EMULATORS } = await import('../modules/emulators.ts')
    expect(EMULATORS.size).toBeGreaterThan(4)
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    for (const name of EMULATORS.keys()) {
      expect(none.err).toContain(`switchboard emulate ${name}`)
      const taken = await command(['emulate', name, '--port', String(port)])
      expect([name, taken.code, taken.err]).toEqual([
        name,
        2,
        expect.stringContaining(`port ${port} is taken`),
      ])
    }
    server.close()
  })
})
