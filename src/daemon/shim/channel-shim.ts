// `switchboard channel`: the thin process between a host's pipe and the daemon. It keeps nothing and owns no platform:
// starting or killing it steals no message and loses none. The daemon is started when none is there, or it is one on
// another machine.
import { randomUUID } from 'node:crypto'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { createAttachClient, remoteLink, socketLink } from '../../attach/index.ts'
import type { DataFolder } from '../../config/instance/data-folder.ts'
import type { ToolOutcome } from '../../contract/index.ts'
import { abilitiesByFile, type HostAbilities } from '../../gateway/access/host-abilities.ts'
import { channelServer } from '../../modules/registry.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createRealClock } from '../../runtime/real-clock.ts'
import { VERSION } from '../../runtime/version.ts'
import { callTool, createAbsentDesk, failedOutcome, toolByName } from '../../tools/index.ts'
import { otherDaemon, ownLink } from './own-daemon.ts'
import { createReviver } from './revive-daemon.ts'

export { attachUrl } from '../../attach/index.ts'

export interface ChannelShimOptions {
  readonly agent: string
  readonly dialect: 'claude' | 'nexo'
  readonly folder: DataFolder
  readonly configFile: string | null
  /** The file was named by a flag or the environment: a daemon that runs another is not this one's. */
  readonly configGiven?: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  /** How this program is started: node's arguments up to the command. */
  readonly program: readonly string[]
  readonly input: Readable
  readonly output: Writable
  readonly logLevel: string
  /** The daemon is on another machine; null: it is the one of the data folder. */
  readonly remote: { readonly url: string; token(): string } | null
  /** False: only a daemon that is there already is attached to. */
  readonly revive: boolean
  onSignal(handle: () => void): () => void
}

/** For a host that started while nobody could say what it may be told. */
const NOT_ATTACHED =
  'No Switchboard gateway answered when this session started, so no messages arrive here. Restart this session once the gateway runs (`switchboard up`).'

const TURNED_AWAY = 'No messages arrive here until that is mended and this session is started again.'

/** What a host is told that starts where nothing was set up for it. */
const NOT_PREPARED =
  'Nothing is set up for this folder yet, so no messages arrive here. Run `switchboard init claude-code` in it. Restart this session after that.'

/** A daemon that has to be started first takes about a second; hosts wait half a minute for `initialize`. */
const WELCOME_MS = 10_000

/** Resolves with the exit code once the host is gone or the process was told to end. */
export async function runChannelShim(options: ChannelShimOptions): Promise<number> {
  const { agent, dialect, folder, remote } = options
  const clock = createRealClock()
  // stdout is the host's: whatever there is to say goes to stderr.
  const log = createLogger({ format: 'people', level: options.logLevel })
  let end: (code: number) => void = () => undefined
  const ended = new Promise<number>((resolve) => {
    end = resolve
  })
  const release = options.onSignal(() => end(0))
  const heard = listenTo(options.input)
  let opened: (server: Awaited<ReturnType<typeof serve>>) => void = () => undefined
  const server = new Promise<Awaited<ReturnType<typeof serve>>>((resolve) => {
    opened = resolve
  })

  const foreign = () => otherDaemon(folder, options.configGiven ? options.configFile : null)
  // Without a file there is only the embedded default, whose demo agent is no host's: a daemon of it would serve nobody.
  const mayRevive = options.revive && !remote && options.configFile !== null
  const reviver = mayRevive ? createReviver(options, { clock, log }) : null
  /** Why nothing could be said of what the host may do; null: it could. */
  let undeclared: string | null = null
  const turnedAway = () => {
    const refusal = client.refusal()
    return refusal === null ? null : `${refusal}. ${TURNED_AWAY}`
  }
  const client = createAttachClient(
    {
      agent,
      dialect,
      routingKey: options.env.CLAUDE_CODE_SESSION_ID || null,
      // A host that names no session of its own is still the same one when it attaches again.
      shim: randomUUID(),
      // On another machine it means nothing.
      ...(remote ? {} : { folder: process.cwd() }),
      open: remote ? remoteLink(remote) : ownLink(socketLink(folder.attachSocket), foreign),
    },
    {
      clock,
      log,
      deliver: async ({ content, meta }) => (await server).event(content, meta),
      verdict: async (verdict) => (await server).verdict(verdict),
      revive: () => reviver?.revive(),
    },
  )

  const call = async (name: string, input: unknown, key: string | null): Promise<ToolOutcome> => {
    client.ready(null)
    const tool = toolByName(name)
    if (tool === undefined) return failedOutcome('not_found', `unknown tool: ${name}`)
    const outcome = await client.call(name, input, key ?? `shim:${randomUUID()}`)
    if (outcome !== null) return undeclared ? { ...outcome, note: outcome.note ?? undeclared } : outcome
    const caller = { agent, session: null, user: null, turn: null, idempotencyKey: key }
    const absent = await callTool(tool, { desk: createAbsentDesk(), caller, input, log })
    // The text is the seed's, to the letter; why nobody is there stands behind it.
    const why = [reviver?.problem() ?? client.problem(), ...(undeclared ? [undeclared] : [])]
    const note = why.filter((one) => one !== null).join(' ')
    return note === '' ? absent : { ...absent, note, structured: { ...absent.structured, why: note } }
  }

  const serve = async (abilities: HostAbilities | null) =>
    (await channelServer())(
      {
        ...{ dialect, version: VERSION, input: heard.input, output: options.output },
        ...(abilities ?? { permission: false, undeclared: undeclared ?? NOT_ATTACHED }),
      },
      {
        call,
        ask: (ask) => client.ask(ask),
        initialized: (name) => client.ready(name),
        problem: (error) => log.warn({ problem: error.message }, 'from the host'),
        closed: () => end(0),
      },
    )

  client.start()
  try {
    const nobody = Promise.race([ended, heard.ended]).then(() => null)
    const welcome = await Promise.race([client.welcome(WELCOME_MS), nobody])
    if (welcome === null) log.error({ problem: client.problem() }, 'not attached; will go on trying')
    const file = remote ? null : options.configFile
    const another = remote || welcome ? null : foreign()
    const abilities =
      welcome ?? (another === null ? await abilitiesByFile(file, agent, folder.defaultStore) : null)
    const unprepared = !remote && options.configFile === null
    if (abilities === null)
      undeclared =
        another ?? (unprepared ? NOT_PREPARED : (turnedAway() ?? reviver?.problem() ?? NOT_ATTACHED))
    const serving = await serve(abilities)
    opened(serving)
    const code = await ended
    await serving.close()
    return code
  } finally {
    release()
    client.stop()
    options.input.destroy()
  }
}

/** Reads from the first moment on, so that a host that is gone is noticed while a daemon is still waited for. */
function listenTo(from: Readable): { readonly input: Readable; readonly ended: Promise<void> } {
  const input = new PassThrough()
  const ended = new Promise<void>((resolve) => {
    for (const end of ['end', 'close', 'error'] as const)
      from.once(end, () => {
        input.end()
        resolve()
      })
  })
  from.pipe(input)
  return { input, ended }
}
