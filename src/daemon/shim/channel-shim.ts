// `switchboard channel`: the thin process between a host's pipe and the daemon. It keeps no state and owns no platform,
// so starting or killing it loses no message. It starts the daemon if none runs, unless the daemon is on another
// machine.
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
import { callTool, createAbsentActions, failedOutcome, toolByName } from '../../tools/index.ts'
import { otherDaemon, ownLink } from './own-daemon.ts'
import { createReviver } from './revive-daemon.ts'

export { attachUrl } from '../../attach/index.ts'

export interface ChannelShimOptions {
  readonly agent: string
  readonly dialect: 'claude' | 'nexo'
  readonly folder: DataFolder
  readonly configFile: string | null
  /** A flag or the environment names the file. Then a daemon that runs another file is refused. */
  readonly configGiven?: boolean
  readonly env: Readonly<Record<string, string | undefined>>
  /** Node's arguments that start this program, up to the command. */
  readonly program: readonly string[]
  readonly input: Readable
  readonly output: Writable
  readonly logLevel: string
  /** A daemon on another machine. Null: the daemon of the data folder. */
  readonly remote: { readonly url: string; token(): string } | null
  /** False: the shim attaches only to a daemon that already runs. */
  readonly revive: boolean
  onSignal(handle: () => void): () => void
}

/** For a host that started while no daemon answered. */
const NOT_ATTACHED =
  'No Switchboard gateway answered when this session started, so no messages arrive here. Restart this session once the gateway runs (`switchboard up`).'

const TURNED_AWAY = 'No messages arrive here until that is mended and this session is started again.'

/** For a host that starts in a folder without a configuration. */
const NOT_PREPARED =
  'Nothing is set up for this folder yet, so no messages arrive here. Run `switchboard init claude-code` in it. Restart this session after that.'

/** A daemon starts in about a second. Hosts wait half a minute for `initialize`. */
const WELCOME_MS = 10_000

/** Resolves with the exit code when the host is gone or a signal ends the process. */
export async function runChannelShim(options: ChannelShimOptions): Promise<number> {
  const { agent, dialect, folder, remote } = options
  const clock = createRealClock()
  // stdout belongs to the host, so messages go to stderr.
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
  // Without a file, a daemon would run the embedded default, whose demo agent serves no host.
  const mayRevive = options.revive && !remote && options.configFile !== null
  const reviver = mayRevive ? createReviver(options, { clock, log }) : null
  /** Why the host's abilities are unknown, or null. */
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
      // Identifies a host without a session id when it attaches again.
      shim: randomUUID(),
      // The path has no meaning on another machine.
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
    const absent = await callTool(tool, { actions: createAbsentActions(), caller, input, log })
    // The text equals the seed's to the letter. The reason for the absence goes into the note.
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

/** Reads from the start, so that a host that leaves is noticed while the shim still waits for a daemon. */
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
