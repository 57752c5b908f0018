// A scripted platform. People write and tap, every send is recorded, and it fails on demand. It is the outside world:
// it outlives a gateway that crashes and remembers what really arrived.
import {
  type Abilities,
  type Address,
  defined,
  type InboundEvent,
  LEASE_MS,
  type MarkdownForm,
  NO_TEXT_LIMIT,
  type OutboundOp,
  opText,
  type Pace,
  type PlatformAdapter,
  type PlatformDeps,
  type PlatformIntake,
  type ReadBack,
  type Received,
  type SendRequest,
  type Signal,
  type StatusLine,
  type StreamingByEdits,
  SwitchboardError,
  type TextLimit,
} from '../../contract/index.ts'
import type { ScriptedHistory } from './scripted-history.ts'
import { createPeople, type Person, type PersonOptions } from './scripted-person.ts'

/** What a send gets instead of a confirmation. */
export type SendFault =
  | { readonly kind: 'unavailable'; readonly retryAfterMs?: number }
  | { readonly kind: 'busy'; readonly retryAfterMs: number }
  | { readonly kind: 'rejected' }
  /** The chat does not exist any more. */
  | { readonly kind: 'gone' }
  /** No confirmation. With `arrived`, people see the message all the same. */
  | { readonly kind: 'unknown'; readonly arrived: boolean }
  /** No answer ever. With `arrived`, the platform takes the message first. */
  | { readonly kind: 'hang'; readonly arrived?: boolean }

export interface Arrived {
  readonly integration: string
  readonly to: Address
  readonly op: OutboundOp
  readonly key: string
  readonly platformId: string
}

export interface StatusShown {
  readonly conversation: string
  readonly line: string
  readonly text: string | null
}

export interface ScriptedPlatform {
  readonly name: string
  create(deps: PlatformDeps): PlatformAdapter
  person(conversation: string, sender: string, options?: PersonOptions): Person
  /** Hands events directly to the intake of an integration. */
  receive(
    integration: string,
    events: readonly InboundEvent[],
    options?: { readonly cursor?: string },
  ): Promise<readonly Received[]>
  /** Every call of `send`, whatever its result. */
  readonly attempts: readonly SendRequest[]
  /** What people can see, in order of arrival. */
  readonly arrived: readonly Arrived[]
  readonly signals: readonly { readonly to: Address; readonly signal: Signal }[]
  /** The status lines of agents, in order. A line with null was removed. */
  readonly statusLines: readonly StatusShown[]
  readonly cursors: ReadonlyMap<string, string | null>
  /** The texts of a conversation as they arrived. Edits and reactions appear as their text. */
  texts(conversation: string, integration?: string): readonly string[]
  /** The texts that the chat shows now, with edits applied. */
  shown(conversation: string, integration?: string): readonly string[]
  /** Every change of a message that shows the beginning of an answer, whatever its result. */
  readonly revisions: readonly SendRequest[]
  /** Removes a message of ours, as a person can. */
  remove(platformId: string): void
  /** Makes the next sends, of one conversation or of any, fail like this, one each. */
  failNext(faults: readonly SendFault[], conversation?: string): void
  /** Decides for every send whether it fails. Null lets it pass. */
  failBy(plan: (request: SendRequest) => SendFault | null): void
  /** Confirms all sends that hang. */
  release(): void
}

export interface ScriptedPlatformOptions {
  readonly name?: string
  readonly abilities?: Partial<Abilities>
  /** In UTF-16 units, unless it names another unit. */
  readonly textLimit?: number | TextLimit
  readonly markdown?: MarkdownForm
  /** The least time between two messages to one conversation. */
  readonly paceMs?: number
  /** True shows what agents do, as a line of its own. */
  readonly statusLines?: boolean
  /** Decides whether showing or removing a status line fails. Null lets it pass. */
  readonly statusFault?: (text: string | null) => SendFault | null
  /**
   * How the platform reports what arrived. If absent, it cannot be asked. `truth` answers from what arrived. A function
   * decides itself, or returns null for the truth.
   */
  readonly reconcile?:
    | 'truth'
    | 'unknown'
    | 'throws'
    | ((request: SendRequest) => Promise<ReadBack | null> | ReadBack | null)
  /** The history of the platform. In `perIntegration` it belongs to that integration alone. */
  readonly history?: ScriptedHistory
  /** How the platform shows answers while they are written. */
  readonly streaming?: { readonly by: 'signals' } | Omit<StreamingByEdits, 'revise'>
  /** True can check whether the link still receives. */
  readonly probes?: boolean
  /** Makes conversations people who sign in. These people are always present. */
  readonly residents?: readonly string[]
  /** Overrides for single integrations. */
  readonly perIntegration?: Readonly<Record<string, Omit<ScriptedPlatformOptions, 'perIntegration' | 'name'>>>
}

const ABLE = {
  threads: true,
  edits: true,
  reactions: true,
  files: true,
  buttons: true,
  typing: true,
  idempotentSend: false,
} satisfies Partial<Abilities>

export function createScriptedPlatform(options: ScriptedPlatformOptions = {}): ScriptedPlatform {
  const attempts: SendRequest[] = []
  const arrived: Arrived[] = []
  const signals: { to: Address; signal: Signal }[] = []
  const statusLines: StatusShown[] = []
  const cursors = new Map<string, string | null>()
  const intakes = new Map<string, PlatformIntake>()
  const faults: { fault: SendFault; conversation: string | undefined }[] = []
  const revisions: SendRequest[] = []
  const gone = new Set<string>()
  let hanging: (() => void)[] = []
  let counter = 0
  let plan: (request: SendRequest) => SendFault | null = () => null

  const settingsOf = (integration: string) => ({ ...options, ...options.perIntegration?.[integration] })
  const abilitiesOf = (integration: string): Abilities => {
    const { textLimit, markdown, residents } = settingsOf(integration)
    return {
      ...ABLE,
      textLimit: limitOf(textLimit),
      ...defined({ markdown, residents }),
      ...options.abilities,
      ...options.perIntegration?.[integration]?.abilities,
    }
  }

  const take = (request: SendRequest): string => {
    const [on] = request.shown ?? []
    if (on !== undefined) {
      if (gone.has(on)) throw new SwitchboardError('not_found', 'there is no such message')
      const { to, op, key } = request
      const edit = { kind: 'edit' as const, on, text: opText(op) }
      arrived.push({ integration: to.integration, to, op: edit, key, platformId: on })
      return on
    }
    const known = arrived.find((one) => one.key === request.key)
    if (known && abilitiesOf(request.to.integration).idempotentSend) return known.platformId
    const platformId = `p${++counter}`
    const { to, op, key } = request
    arrived.push({ integration: to.integration, to, op, key, platformId })
    return platformId
  }

  const nextFault = (conversation: string): SendFault | undefined => {
    const at = faults.findIndex((one) => one.conversation === undefined || one.conversation === conversation)
    return at < 0 ? undefined : faults.splice(at, 1)[0]?.fault
  }

  const send = async (request: SendRequest) => {
    attempts.push(request)
    const fault = nextFault(request.to.conversation) ?? plan(request)
    if (fault) await meet(fault, request)
    return { platformIds: [take(request)] }
  }

  const revise = async (request: SendRequest) => {
    revisions.push(request)
    const fault = nextFault(request.to.conversation) ?? plan(request)
    if (fault) await meet(fault, request)
    take(request)
  }

  const meet = (fault: SendFault, request: SendRequest): Promise<void> => {
    if ('arrived' in fault && fault.arrived) take(request)
    return trouble(fault)
  }

  const trouble = async (fault: SendFault): Promise<void> => {
    switch (fault.kind) {
      case 'unavailable':
        throw new SwitchboardError('platform_unavailable', 'the platform is away', retryAfter(fault))
      case 'busy':
        throw new SwitchboardError('rate_limited', 'slow down', retryAfter(fault))
      case 'rejected':
        throw new SwitchboardError('platform_rejected', 'not_in_channel')
      case 'gone':
        throw new SwitchboardError('platform_rejected', 'channel_not_found', { placeGone: true })
      case 'unknown':
        throw new SwitchboardError('outcome_unknown', 'the connection broke before the answer')
      case 'hang':
        await new Promise<void>((resolve) => hanging.push(resolve))
    }
  }

  const lineOf = (faultOf: (text: string | null) => SendFault | null = () => null): StatusLine => ({
    async show({ conversation }, text, line) {
      const fault = faultOf(text)
      const name = line ?? `s${++counter}`
      const show = () => void statusLines.push({ conversation, line: name, text })
      if (fault && 'arrived' in fault && fault.arrived) show()
      if (fault) await trouble(fault)
      show()
      return name
    },
    async remove({ conversation }, line) {
      const fault = faultOf(null)
      if (fault) await trouble(fault)
      statusLines.push({ conversation, line, text: null })
    },
  })

  /** The pace belongs to the outside world, so all nodes share it. */
  const freeAt = new Map<string, number>()
  const paceOf = (integration: string, paceMs: number, clock: PlatformDeps['clock']): Pace => {
    const keyOf = (conversation: string) => `${integration} ${conversation}`
    return {
      take(conversation, side) {
        const key = keyOf(conversation)
        const waitMs = Math.max(0, (freeAt.get(key) ?? 0) - clock.now())
        if (waitMs === 0 && !side) freeAt.set(key, clock.now() + paceMs)
        return waitMs
      },
      giveBack: (conversation) => void freeAt.delete(keyOf(conversation)),
    }
  }

  const receive: ScriptedPlatform['receive'] = async (integration, events, more) => {
    const intake = intakes.get(integration)
    if (!intake) throw new Error(`integration ${integration} is not running`)
    return intake.receive(events, more)
  }

  const of = (conversation: string, integration = 'chat') =>
    arrived.filter((one) => one.integration === integration && one.to.conversation === conversation)

  const nextId = (prefix: string) => `${prefix}${++counter}`
  const person = createPeople({ receive, arrivedIn: of, nextId })

  return {
    name: options.name ?? 'test',
    person,
    receive,
    attempts,
    arrived,
    signals,
    statusLines,
    cursors,
    texts: (conversation, integration) => of(conversation, integration).map(({ op }) => opText(op)),
    shown(conversation, integration) {
      const standing = new Map<string, string>()
      for (const { op, platformId } of of(conversation, integration)) {
        if (op.kind === 'edit') standing.set(op.on, op.text)
        else standing.set(platformId, opText(op))
      }
      return [...standing.values()]
    },
    revisions,
    remove: (platformId) => void gone.add(platformId),
    failNext(list, conversation) {
      for (const fault of list) faults.push({ fault, conversation })
    },
    failBy(given) {
      plan = given
    },
    release() {
      const waiting = hanging
      hanging = []
      for (const resolve of waiting) resolve()
    },
    create({ integration: { id }, lease, clock }) {
      const mine = settingsOf(id)
      const reconcile = async (request: SendRequest) => {
        if (mine.reconcile === 'throws') throw new SwitchboardError('platform_unavailable', 'cannot look')
        if (mine.reconcile === 'unknown') return { outcome: 'unknown' as const }
        const decided = typeof mine.reconcile === 'function' ? await mine.reconcile(request) : null
        if (decided !== null) return decided
        const found = arrived.find((one) => one.key === request.key)
        return found
          ? { outcome: 'sent' as const, receipt: { platformIds: [found.platformId] } }
          : { outcome: 'absent' as const }
      }
      return {
        abilities: abilitiesOf(id),
        ...(mine.paceMs === undefined ? {} : { pace: paceOf(id, mine.paceMs, clock) }),
        async start(intake, cursor) {
          intakes.set(id, {
            async receive(events, position) {
              if (position?.cursor !== undefined) await lease?.take(LEASE_MS)
              return intake.receive(events, position)
            },
          })
          cursors.set(id, cursor)
          mine.history?.attach({
            receive: async (event) => (await receive(id, [event]))[0] as Received,
            connected: () => intake.connected?.(),
          })
        },
        send,
        files: { keep: async ({ name }) => `kept:${name}` },
        ...(mine.reconcile ? { reconcile } : {}),
        ...(mine.streaming ? { streaming: { ...mine.streaming, revise } } : {}),
        ...(mine.statusLines ? { status: lineOf(mine.statusFault) } : {}),
        signal: (to, signal) => void signals.push({ to, signal }),
        ...(mine.history ? { history: mine.history.reader } : {}),
        link: {
          state: () => mine.history?.link() ?? { state: 'up' },
          ...(mine.history ? { renew: mine.history.renew } : {}),
          ...(mine.history && mine.probes ? { probe: mine.history.probe } : {}),
        },
        async stop() {
          intakes.delete(id)
        },
      }
    },
  }
}

function retryAfter({ retryAfterMs }: { readonly retryAfterMs?: number }) {
  return defined({ retryAfterMs })
}

function limitOf(limit: number | TextLimit | undefined): TextLimit {
  return typeof limit === 'number' ? { size: limit, unit: 'utf-16' } : (limit ?? NO_TEXT_LIMIT)
}
