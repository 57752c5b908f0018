// The platform `imessage`: Messages on this Mac. It reads incoming messages and the results of sends from chat.db, and
// sends by AppleScript.
import {
  type Abilities,
  type GateView,
  type InboundEvent,
  type PlatformAdapter,
  type PlatformDeps,
  SwitchboardError,
} from '../../contract/index.ts'
import { createChatPace, type LinkState } from '../../kit/index.ts'
import { plainForm } from '../../kit/markdown/index.ts'
import { type MessageRow, openChatDb } from './chat-db.ts'
import { DEFAULT_TIMINGS, readConfig, type Timings } from './config.ts'
import { createIMessageFiles } from './files.ts'
import { createHistory } from './history.ts'
import { AUTOMATION_HINT, createOsascript } from './osascript.ts'
import { createOwnSends } from './own-sends.ts'
import { eventOf, isSelfChat } from './parse.ts'
import { TEXT_LIMIT } from './render.ts'
import { createSend } from './send.ts'
import { startWatch, type Watch } from './watch.ts'

const ABILITIES: Abilities = {
  textLimit: TEXT_LIMIT,
  markdown: plainForm,
  // Only the Mac with the database can send.
  sendFrom: 'link-holder',
  // AppleScript sends, and does nothing else.
  edits: false,
  files: true,
  replies: true,
  deletes: true,
  // There is no key, so a sent message is searched in chat.db.
  idempotentSend: false,
}

export interface IMessageAdapterOptions {
  readonly timings?: Partial<Timings>
  /** The platform as Node names it. */
  readonly system?: string
  readonly osascript?: string
}

/** Throws `config_invalid` for invalid options, and on systems other than macOS. */
export function createIMessage(deps: PlatformDeps, options: IMessageAdapterOptions = {}): PlatformAdapter {
  const { clock, log, integration } = deps
  const config = readConfig(integration)
  const system = options.system ?? process.platform
  if (system !== 'darwin')
    throw new SwitchboardError(
      'config_invalid',
      `imessage ${config.id}: needs macOS with Messages; this system is ${system}`,
      {
        hint: 'run Switchboard on the Mac, or take the integration out',
      },
    )
  const timings = { ...DEFAULT_TIMINGS, ...options.timings }
  const run = createOsascript({
    clock,
    program: options.osascript ?? '/usr/bin/osascript',
    timeoutMs: timings.scriptMs,
  })
  const own = createOwnSends(deps)
  let watch: Watch | null = null
  let link: LinkState = { state: 'connecting' }
  let forbidden = false
  const db = () => {
    if (watch === null) throw new SwitchboardError('platform_unavailable', 'the integration is not started')
    return watch.db()
  }
  const files = createIMessageFiles(db, config, deps)
  const sending = createSend({ config, timings, clock, db, run, own, files: files })

  /** In a chat with oneself our own messages come back. They are recognised and ignored. */
  const heard = async (row: MessageRow): Promise<InboundEvent | null> => {
    const event = eventOf(row, { config, filesOf: (rowid) => db().files(rowid) })
    if (event === null || !isSelfChat(row, config)) return event
    const text = event.kind === 'message' || event.kind === 'edit' ? event.text : ''
    return (await own.isOurs({ guid: row.guid, conversation: event.conversation, text })) ? null : event
  }

  return {
    abilities: ABILITIES,
    pace: createChatPace({ clock, intervalMs: 1_000, burst: 5, overall: { count: 10, perMs: 1_000 } }),
    async start(intake, cursor) {
      watch = startWatch(cursor, {
        timings,
        clock,
        random: deps.random,
        log,
        intake,
        lease: deps.lease,
        open: () => openChatDb(config.dbPath),
        eventOf: heard,
        tell(next) {
          link = next
        },
      })
    },
    async send(request) {
      try {
        const receipt = await sending.send(request)
        forbidden = false
        return receipt
      } catch (thrown) {
        if (thrown instanceof SwitchboardError && thrown.hint === AUTOMATION_HINT) forbidden = true
        throw thrown
      }
    },
    reconcile: (request) => sending.reconcile(request),
    history: createHistory({ db, eventOf: heard }),
    link: {
      state: () => link,
      who: () => [...config.own][0] ?? null,
      renew: (cause) => watch?.renew(cause),
      probe: async () => (link.state === 'up' ? 'hears' : 'deaf'),
    },
    files: {
      keep: (file) => files.keep(file),
      download: (attachment) => files.download(attachment),
      forget: ({ attachments }) => files.forget(attachments),
    },
    checks: { gates: () => gatesOf(link, forbidden) },
    async stop() {
      await watch?.stop()
      watch = null
    },
  }
}

function gatesOf(link: LinkState, forbidden: boolean): readonly GateView[] {
  const gates: GateView[] = []
  if (link.state === 'down')
    gates.push({
      gate: 'Full Disk Access',
      pass: false,
      reason: link.detail ?? 'chat.db cannot be read',
      key: 'db_path',
    })
  if (forbidden) gates.push({ gate: 'Automation', pass: false, reason: AUTOMATION_HINT, key: '' })
  return gates
}
