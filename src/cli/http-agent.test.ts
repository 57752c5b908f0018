// `agents add --http` and `init --agent http`: the agent is tried live before anything is kept, and what was kept holds.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, onTestFinished } from 'vitest'
import { STATUS } from '../server/fixtures/open-server.ts'
import {
  command,
  type RememberingTerminal,
  rememberingTerminal,
  startFakeDaemon,
  temporaryFolder,
} from './fixtures/fake-daemon.ts'

interface Seen {
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

async function agentServer(answer: (response: ServerResponse) => void) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    seen.push({ headers: request.headers, body })
    answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/turn` }
}

/** It takes only what is signed with the secret that it knows by then. */
async function verifyingServer(secret: () => string) {
  const server = await agentServer((response) => {
    const { body = '', headers = {} } = server.seen.at(-1) ?? {}
    try {
      new Webhook(secret()).verify(body, headers as Record<string, string>)
      response.writeHead(202).end()
    } catch {
      response.writeHead(401).end()
    }
  })
  return server
}

const hello = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"Yes\\nI am"}')

function place() {
  const folder = temporaryFolder()
  onTestFinished(() => folder.done())
  return { file: join(folder.path, 'switchboard.yaml'), path: folder.path }
}

describe('init --agent http', () => {
  it('[I16.http-init] tries the agent, signed, and writes a file that holds and a secret for its owner only', async () => {
    const { seen, url } = await agentServer(hello)
    const { file, path } = place()
    const words = ['init', '--agent', 'http', '--url', url, '--config', file, '--data', join(path, 'data')]
    const told = await command(words)
    expect(told).toMatchObject({ code: 0, err: expect.stringContaining('which answers "Yes I am"') })
    const secretPath = join(path, 'switchboard.http.secret')
    expect(statSync(secretPath).mode & 0o777).toBe(0o600)
    const secret = readFileSync(secretPath, 'utf8').trim()
    expect(told.out + told.err).not.toContain(secret)
    expect(
      new Webhook(secret).verify(seen[0]?.body ?? '', seen[0]?.headers as Record<string, string>),
    ).toMatchObject({
      ...{ test: true, text: 'Are you there?' },
    })
    expect(readFileSync(file, 'utf8')).toContain('allow_private: true')
    expect(await command(['check', file, '--data', join(path, 'data')])).toMatchObject({ code: 0, err: '' })
    // Again: the secret is kept, for the agent has it by now.
    expect((await command([...words, '--force'])).code).toBe(0)
    expect(readFileSync(secretPath, 'utf8').trim()).toBe(secret)
  })

  it.each<[string, (response: ServerResponse) => void, RegExp]>([
    ['answer', (response) => response.writeHead(404).end(), /answered 404/],
    ['answer', (response) => response.writeHead(200, { 'content-type': 'image/png' }).end('x'), /image\/png/],
    [
      'answer',
      (response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"message":"Workflow was started"}'),
      /mode: later/,
    ],
    ['soon', hello, /mode: .*"answer"\|"later"/],
  ])(
    '[I16.http-init] mode %s: what does not answer well is told, and nothing is written',
    async (mode, answer, why) => {
      const { url } = await agentServer(answer)
      const { file, path } = place()
      const told = await command([
        'init',
        '--agent',
        'http',
        '--url',
        url,
        '--mode',
        mode,
        '--config',
        file,
        '--data',
        join(path, 'data'),
      ])
      expect(told.code).not.toBe(0)
      expect(told.err).toMatch(why)
      expect(existsSync(file) || existsSync(join(path, 'switchboard.http.secret'))).toBe(false)
    },
  )

  it('[I16.http-init] without a URL it says which flag is missing', async () => {
    const { file, path } = place()
    const told = await command(['init', '--agent', 'http', '--yes', '--config', file, '--data', path])
    expect(told).toMatchObject({ code: 2, err: expect.stringContaining('--url is missing') })
    expect(
      await command(['init', '--agent', 'http', '--url', 'ftp://x', '--config', file, '--data', path]),
    ).toMatchObject({ code: 2 })
    expect(existsSync(file)).toBe(false)
  })
})

describe('agents add --http', () => {
  const YAML = 'integrations:\n  - { id: web, platform: web }\n'

  it('[I16.http-setup] tries it, keeps its secret encrypted, shows it once, and writes the lines', async () => {
    const { seen, url } = await agentServer((response) => response.writeHead(202).end())
    const { file, path } = place()
    writeFileSync(file, YAML)
    const daemon = await startFakeDaemon(path, {
      'GET /api/status': { ...STATUS, agents: [], config: { ...STATUS.config, file } },
      'GET /api/secrets': { items: [], next: null },
      'PUT /api/secrets/kate_signing': { ok: true },
    })
    const told = await command([
      'agents',
      'add',
      'kate',
      '--http',
      url,
      '--write',
      '--json',
      '--config',
      file,
      '--data',
      path,
    ])
    await daemon.close()
    expect(told).toMatchObject({ code: 0, lines: [{ who: expect.stringContaining('answers later') }] })
    const [{ signing_secret: secret }] = told.lines as [{ signing_secret: string }]
    expect(daemon.asked.find(({ method }) => method === 'PUT')?.body).toEqual({ value: secret })
    expect(seen[0]?.headers['webhook-signature']).toMatch(/^v1,/)
    expect(readFileSync(file, 'utf8')).toContain('secret:kate_signing')
    expect(readFileSync(file, 'utf8')).not.toContain(secret)
  })

  it('[I35.b41] an agent that verifies is given the secret first, tried after Enter, and again with the same one', async () => {
    let known = ''
    const { seen, url } = await verifyingServer(() => known)
    const { file, path } = place()
    writeFileSync(file, YAML)
    const daemon = await startFakeDaemon(path, {
      'GET /api/status': { ...STATUS, agents: [], config: { ...STATUS.config, file } },
      'GET /api/secrets': { items: [], next: null },
      'PUT /api/secrets/kate_signing': { ok: true },
    })
    const made = () => [...new Set(terminal.printed.err.match(/whsec_[A-Za-z0-9+/=]{20,}/g) ?? [])]
    let enters = 0
    const terminal: RememberingTerminal = rememberingTerminal({
      inputIsTty: true,
      async ask() {
        expect(made()).toHaveLength(1)
        // The first time the person is too quick.
        enters += 1
        if (enters === 2) known = made()[0] ?? ''
        return ''
      },
    })
    const words = ['agents', 'add', 'kate', '--http', url, '--write', '--config', file, '--data', path]
    const told = await command(words, terminal)
    await daemon.close()
    expect([told.code, enters, seen.length]).toEqual([0, 2, 2])
    expect(told.err).toContain('401')
    expect(daemon.asked.find(({ method }) => method === 'PUT')?.body).toEqual({ value: known })
    // Shown once.
    expect([told.err.split(known).length, told.out.includes(known)]).toEqual([2, false])
  })

  it('[I35.b41] a script is told to name a secret that the agent has', async () => {
    const { url } = await verifyingServer(() => '')
    const { file, path } = place()
    writeFileSync(file, YAML)
    const daemon = await startFakeDaemon(path, {
      'GET /api/status': { ...STATUS, agents: [] },
      'GET /api/secrets': { items: [], next: null },
    })
    const told = await command([
      ...['agents', 'add', 'kate', '--http', url, '--write', '--config', file, '--data', path],
    ])
    await daemon.close()
    expect(told).toMatchObject({ code: 1, err: expect.stringContaining('name it with --secret-file FILE') })
    expect(told.out + told.err).not.toMatch(/whsec_[A-Za-z0-9+/=]{20,}/)
  })

  it.each([
    { arrangement: 'at a terminal', inputIsTty: true, more: [] },
    { arrangement: 'in a script', inputIsTty: false, more: ['--json'] },
  ])(
    '[I35.b41-print] $arrangement without --write no secret is made for show, kept or tried; --write makes the only one',
    async ({ inputIsTty, more }) => {
      const { seen, url } = await agentServer((response) => response.writeHead(202).end())
      const { file, path } = place()
      writeFileSync(file, YAML)
      const daemon = await startFakeDaemon(path, {
        'GET /api/status': { ...STATUS, agents: [], config: { ...STATUS.config, file } },
        'GET /api/secrets': { items: [], next: null },
        'PUT /api/secrets/kate_signing': { ok: true },
      })
      onTestFinished(() => daemon.close())
      const words = ['agents', 'add', 'kate', '--http', url, ...more, '--config', file, '--data', path]
      const secrets = ({ out, err }: { out: string; err: string }) =>
        (out + err).match(/whsec_[\w+/=]{20,}/g) ?? []
      const kept = () => daemon.asked.filter(({ method }) => method === 'PUT').map(({ body }) => body)
      const silent = rememberingTerminal({ inputIsTty, ask: async () => expect.unreachable('a question') })
      const told = await command(words, silent)
      expect([told.code, secrets(told), kept(), seen.length]).toEqual([0, [], [], 0])
      expect([readFileSync(file, 'utf8'), told.out.includes('secret:kate_signing')]).toEqual([YAML, true])
      if (inputIsTty) expect(told.err).toContain('--write: it makes secret:kate_signing and shows it once')
      const written = await command(
        [...words, '--write'],
        rememberingTerminal({ inputIsTty, ask: async () => '' }),
      )
      const [secret] = secrets(written)
      expect([written.code, secrets(written).length, kept()]).toEqual([0, 1, [{ value: secret }]])
    },
  )

  it('[I35.b41-print] without --write no daemon has to run, for nothing is kept', async () => {
    const { url } = await agentServer(hello)
    const { file, path } = place()
    writeFileSync(file, YAML)
    const told = await command(['agents', 'add', 'kate', '--http', url, '--config', file, '--data', path])
    expect(told).toMatchObject({ code: 0, out: expect.stringContaining('secret:kate_signing') })
    expect(existsSync(join(path, 'switchboard.db'))).toBe(false)
  })

  it('[I16.http-setup] an agent that cannot be reached is not kept', async () => {
    const { file, path } = place()
    writeFileSync(file, YAML)
    const daemon = await startFakeDaemon(path, {
      'GET /api/status': { ...STATUS, agents: [] },
      'GET /api/secrets': { items: [], next: null },
    })
    const told = await command([
      'agents',
      'add',
      'kate',
      '--http',
      'http://127.0.0.1:1/',
      '--write',
      '--config',
      file,
      '--data',
      path,
    ])
    await daemon.close()
    expect(told).toMatchObject({ code: 1, err: expect.stringContaining('the agent was tried') })
    expect(daemon.asked.some(({ method }) => method === 'PUT')).toBe(false)
    expect(readFileSync(file, 'utf8')).toBe(YAML)
    expect(await command(['agents', 'add', 'kate', '--http', 'x', '--chorus', 'y'])).toMatchObject({
      code: 2,
    })
  })
})
