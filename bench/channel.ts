// The channel over stdio: notifications per second of the shim against a bare SDK server that pushes without storing,
// shim start to `initialize` answered, memory per shim. `node --import tsx bench/channel.ts [--messages N] [--rounds N]`.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAttachServer } from '../src/attach/index.ts'
import type { AttachedHost, Logger } from '../src/contract/index.ts'
import { median, rounded } from './statistics.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const entry = join(root, 'dist/cli/main.js')
const option = (name: string, fallback: number) => {
  const at = process.argv.indexOf(`--${name}`)
  return at === -1 ? fallback : Number(process.argv[at + 1])
}
const MESSAGES = option('messages', 5_000)
const ROUNDS = option('rounds', 5)

const quiet: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => quiet,
}
const clock = {
  now: Date.now,
  after(ms: number, run: () => void) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}

interface Host {
  readonly child: ChildProcess
  /** From the spawn to the answer of `initialize`. */
  readonly startMs: number
  /** Resolves when this many notifications came. */
  heard(count: number): Promise<void>
}

async function host(args: readonly string[]): Promise<Host> {
  const began = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  let seen = 0
  let wanted = Number.POSITIVE_INFINITY
  let reached: () => void = () => undefined
  let opened: () => void = () => undefined
  const open = new Promise<void>((resolve) => {
    opened = resolve
  })
  let rest = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const message = JSON.parse(line) as { id?: number; method?: string }
      if (message.id === 1) opened()
      if (message.method === 'notifications/claude/channel' && ++seen >= wanted) reached()
    }
  })
  const say = (message: object) => child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const clientInfo = { name: 'bench', version: '1' }
  say({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  })
  await open
  const startMs = performance.now() - began
  say({ method: 'notifications/initialized' })
  return {
    child,
    startMs,
    heard: (count) =>
      new Promise((resolve) => {
        wanted = count
        reached = resolve
        if (seen >= wanted) resolve()
      }),
  }
}

function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  child.kill('SIGTERM')
  return ended
}

function residentMb(pid: number): number {
  const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kb ?? 0) / 1024
}

const folder = mkdtempSync(join(tmpdir(), 'swb-bench-channel-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const BARE = `
import { Server } from ${JSON.stringify(import.meta.resolve('@modelcontextprotocol/server'))}
import { StdioServerTransport } from ${JSON.stringify(import.meta.resolve('@modelcontextprotocol/server/stdio'))}
const server = new Server({ name: 'bare', version: '1' }, { capabilities: { experimental: { 'claude/channel': {} }, tools: {} } })
server.oninitialized = async () => {
  for (let n = 0; n < ${MESSAGES}; n++)
    await server.notification({ method: 'notifications/claude/channel', params: { content: 'message ' + n, meta: { chat_id: 'hook:dev', message_id: 'm' + n, user: 'dev' } } })
}
await server.connect(new StdioServerTransport())
`

async function bare(): Promise<{ perSecond: number; startMs: number; mb: number }> {
  const file = join(folder, 'bare.mjs')
  writeFileSync(file, BARE)
  const one = await host([file])
  const began = performance.now()
  await one.heard(MESSAGES)
  const perSecond = MESSAGES / ((performance.now() - began) / 1000)
  const mb = residentMb(one.child.pid ?? 0)
  await stop(one.child)
  return { perSecond, startMs: one.startMs, mb }
}

/** The daemon's end is here, without a store: what is measured is the way from the socket to the host's pipe. */
async function shim(round: number): Promise<{ perSecond: number; startMs: number; mb: number }> {
  const data = join(folder, `data-${round}`)
  spawnSync('mkdir', ['-p', data])
  const server = createAttachServer({ clock, log: quiet, version: 'bench', permission: () => true })
  let admitted: (host: AttachedHost) => void = () => undefined
  const attached = new Promise<AttachedHost>((resolve) => {
    admitted = resolve
  })
  server.open('kate', {
    dialect: 'claude',
    admit(one) {
      admitted(one)
      return {
        call: () => new Promise(() => undefined),
        ask: async () => undefined,
        detached: () => undefined,
      }
    },
  })
  await server.listen(join(data, 'a.sock'))
  const one = await host([entry, 'channel', '--agent', 'kate', '--data', data, '--no-start'])
  const to = await attached
  const began = performance.now()
  const done = one.heard(MESSAGES)
  for (let n = 0; n < MESSAGES; n++)
    void to.deliver({
      turn: `t${n}`,
      session: 's',
      chatId: 'hook:dev',
      messageId: `m${n}`,
      content: `message ${n}`,
      meta: { chat_id: 'hook:dev', message_id: `m${n}`, user: 'dev' },
    })
  await done
  const perSecond = MESSAGES / ((performance.now() - began) / 1000)
  const mb = residentMb(one.child.pid ?? 0)
  await stop(one.child)
  await server.close()
  return { perSecond, startMs: one.startMs, mb }
}

const rounds: { bare: Awaited<ReturnType<typeof bare>>; shim: Awaited<ReturnType<typeof shim>> }[] = []
for (let round = 0; round < ROUNDS; round++) rounds.push({ bare: await bare(), shim: await shim(round) })
const of = (who: 'bare' | 'shim', what: 'perSecond' | 'startMs' | 'mb') =>
  rounded(median(rounds.map((one) => one[who][what])), 1)
const ratio = (what: 'perSecond' | 'startMs' | 'mb') =>
  rounded(median(rounds.map((one) => one.shim[what] / one.bare[what])), 2)
console.log(
  JSON.stringify(
    {
      messages: MESSAGES,
      rounds: ROUNDS,
      notifications_per_s: {
        bare: of('bare', 'perSecond'),
        shim: of('shim', 'perSecond'),
        ratio: ratio('perSecond'),
      },
      start_ms: { bare: of('bare', 'startMs'), shim: of('shim', 'startMs'), ratio: ratio('startMs') },
      rss_mb: { bare: of('bare', 'mb'), shim: of('shim', 'mb'), ratio: ratio('mb') },
    },
    null,
    2,
  ),
)
