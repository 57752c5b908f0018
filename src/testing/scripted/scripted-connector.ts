// An agent that a test plays: it records what it is handed, answers by script, and can be absent, slow or broken. Like
// a real agent it outlives the gateway that talks to it.
import {
  type Accepted,
  type AgentConnector,
  type AgentOutlet,
  type AgentOutput,
  type Ask,
  type ConnectorDeps,
  type Delivery,
  defined,
  type NewFile,
  type OpenAtHost,
  type Redelivery,
  type Verdict,
} from '../../contract/index.ts'

/** What the agent does with a delivery. It may throw: then the turn was not taken. */
export type Script = (delivery: Delivery, agent: ScriptedAgent) => Promise<void> | void

export interface ScriptedAgentOptions {
  readonly redelivery?: Redelivery
  readonly window?: number
  readonly holdsDecisions?: boolean
  /** False: nothing is attached until `attach` is called. */
  readonly attached?: boolean
  /** False: the connector cannot stop what runs. */
  readonly cancels?: boolean
  /** True: what it was handed it keeps through every end of the gateway. */
  readonly keeps?: boolean
  /** What `verdict` answers at first; absent: `relayed`. */
  readonly verdict?: 'relayed' | 'gone' | 'fetched'
  /** It says how many it could be written: `room` of the agent. False: one at a time. */
  readonly roomed?: boolean
  /** Hand-overs of one session may overlap. */
  readonly overlaps?: true
  /** Hand-overs last as long as the answer: a stop waits so long for them. */
  readonly finishMs?: number
  /** What goes out with every turn. */
  readonly mints?: AgentConnector['mints']
}

export interface ScriptedAgent {
  readonly id: string
  readonly deliveries: readonly Delivery[]
  readonly verdicts: readonly Verdict[]
  readonly cancelled: readonly { readonly session: string; readonly turn: string | null }[]
  /** What `verdict` answers from now on. */
  hears: 'relayed' | 'gone' | 'fetched'
  /** Replaced by the test; by default it answers `re: TEXT`. */
  script: Script
  /** What it waits for before a turn with attachments can be written; by default nothing. */
  prepare: (delivery: Delivery) => Promise<void> | void
  /** How many it could be written now. */
  readonly room: number
  makeRoom(room: number): void
  /** How often a turn was handed to it, also where that failed. */
  readonly tries: number
  /** The next hand-overs throw these, one each. */
  failNext(...errors: readonly Error[]): void
  attach(): void
  detach(detail?: string): void
  answer(delivery: Delivery, text: string, more?: { readonly files?: readonly NewFile[] }): Promise<Accepted>
  say(delivery: Delivery, text: string, idempotencyKey?: string): Promise<Accepted>
  speak(session: string, text: string, options?: { readonly afterMs?: number }): Promise<Accepted>
  ask(delivery: Delivery, ask: Ask): Promise<Accepted>
  /**
   * Asks as a host does that names no turn: its connector only supposes which one it is about. `at`: what is open
   * there.
   */
  guess(delivery: Delivery, ask: Ask, at?: OpenAtHost): Promise<Accepted>
  /** A host of it attached that still waits for these. */
  waits(host: string, requests: readonly string[]): Promise<Accepted>
  evidence(delivery: Delivery, of: 'seen' | 'answered', how?: { readonly working: true }): Promise<Accepted>
  fail(delivery: Delivery, detail: string, how?: { readonly unlessWorking: true }): Promise<Accepted>
  /** Handed over, and not worked on any more. */
  giveBack(delivery: Delivery): Promise<Accepted>
  /** Offered again, it had the turn from before. */
  kept(delivery: Delivery, seen: boolean): Promise<Accepted>
  /** Trouble told before the end: kept beside the turn. */
  trouble(delivery: Delivery, text: string): Promise<Accepted>
  status(delivery: Delivery, text: string): Promise<Accepted>
  /** The answer as far as it is written. */
  partial(delivery: Delivery, text: string): Promise<Accepted>
  /** Whatever an agent can give back. */
  accept(output: AgentOutput): Promise<Accepted>
  /** Comes for the answer to a question of its own. */
  fetchVerdict(approval: string, turn: string): Promise<Verdict | 'pending'>
  /** How long a person was asked for this turn. */
  askedMs(turn: string, since: number): Promise<number>
  texts(): readonly string[]
}

export interface ScriptedConnector {
  readonly name: string
  create(deps: ConnectorDeps): AgentConnector
  agent(id: string): ScriptedAgent
}

export const AGAIN: Redelivery = { handed: 'again', seen: 'again', afterTimeout: false }

interface Seat {
  readonly agent: ScriptedAgent
  connector(): AgentConnector
}

export function createScriptedConnector(
  options: ScriptedAgentOptions = {},
  perAgent: Readonly<Record<string, ScriptedAgentOptions>> = {},
): ScriptedConnector {
  const seats = new Map<string, Seat>()
  const seat = (id: string): Seat => {
    const known = seats.get(id) ?? createSeat(id, { ...options, ...perAgent[id] })
    seats.set(id, known)
    return known
  }
  return {
    name: 'test',
    agent: (id) => seat(id).agent,
    create: ({ agent }) => seat(agent.id).connector(),
  }
}

function createSeat(id: string, options: ScriptedAgentOptions): Seat {
  const deliveries: Delivery[] = []
  const verdicts: Verdict[] = []
  const cancelled: { session: string; turn: string | null }[] = []
  const errors: Error[] = []
  let attached = options.attached ?? true
  let room = 0
  let tries = 0
  let outlet: AgentOutlet | null = null

  const accept: AgentOutlet['accept'] = async (output) => {
    if (!outlet) throw new Error(`${id} has nobody to talk to`)
    return outlet.accept(output)
  }
  const of = ({ session, turn }: Delivery) => ({ session, turn })

  const agent: ScriptedAgent = {
    id,
    deliveries,
    verdicts,
    cancelled,
    hears: options.verdict ?? 'relayed',
    script: async (delivery) => {
      await agent.answer(delivery, `re: ${delivery.text}`)
    },
    prepare: () => undefined,
    get tries() {
      return tries
    },
    get room() {
      return room
    },
    makeRoom(now) {
      room = now
      outlet?.roomy()
    },
    failNext: (...list) => void errors.push(...list),
    attach() {
      attached = true
      outlet?.presence(true)
    },
    detach(detail) {
      attached = false
      outlet?.presence(false, detail)
    },
    answer: (delivery, text, more = {}) =>
      accept({ kind: 'say', ...of(delivery), text, final: true, ...more }),
    say: (delivery, text, idempotencyKey) =>
      accept({
        kind: 'say',
        ...of(delivery),
        text,
        ...defined({ idempotencyKey }),
      }),
    speak: (session, text, more = {}) => accept({ kind: 'say', session, text, ...more }),
    ask: (delivery, ask) => accept({ kind: 'ask', ...of(delivery), ask }),
    guess: (delivery, ask, at) =>
      accept({ kind: 'ask', ...of(delivery), guessed: true, ask, ...(at ? { at } : {}) }),
    waits: (host, requests) => accept({ kind: 'waits', host, requests }),
    evidence: (delivery, what, how) => accept({ kind: 'evidence', turn: delivery.turn, of: what, ...how }),
    fail: (delivery, detail, how) =>
      accept({ kind: 'failed', turn: delivery.turn, reason: 'agent_failed', detail, ...how }),
    trouble: ({ turn }, text) =>
      accept({ kind: 'event', event: { turn, kind: 'error', call: null, name: null, text, key: null } }),
    kept: ({ turn }, seen) => accept({ kind: 'kept', turn, seen }),
    giveBack: ({ turn }) => accept({ kind: 'returned', turns: [turn], counted: false, detail: 'given back' }),
    status: (delivery, text) => accept({ kind: 'status', ...of(delivery), text }),
    partial: (delivery, text) =>
      accept({ kind: 'partial', session: delivery.session, turn: delivery.turn, text }),
    accept,
    async fetchVerdict(approval, turn) {
      if (!outlet) throw new Error(`${id} has nobody to talk to`)
      return outlet.fetchVerdict(approval, turn)
    },
    async askedMs(turn, since) {
      if (!outlet) throw new Error(`${id} has nobody to talk to`)
      return outlet.askedMs(turn, since)
    },
    texts: () => deliveries.map((one) => one.text),
  }

  return {
    agent,
    connector: () => ({
      redelivery: options.redelivery ?? AGAIN,
      window: options.window ?? 1,
      holdsDecisions: options.holdsDecisions ?? true,
      ...(options.verdict === 'fetched' ? { fetchesVerdicts: true } : {}),
      async start(given) {
        outlet = given
        if (attached) given.presence(true)
      },
      async deliver(delivery) {
        tries += 1
        const error = errors.shift()
        if (error) throw error
        outlet?.reached(null)
        room -= 1
        deliveries.push(delivery)
        await agent.script(delivery, agent)
      },
      ...(options.mints ? { mints: options.mints } : {}),
      ...defined({ finishMs: options.finishMs }),
      ...(options.overlaps ? { overlaps: options.overlaps } : {}),
      ...(options.roomed ? { room: () => room } : {}),
      async prepare(delivery) {
        await agent.prepare(delivery)
      },
      takeUp: () => options.keeps ?? false,
      async verdict(verdict) {
        if (agent.hears !== 'relayed') return agent.hears
        verdicts.push(verdict)
        return 'relayed'
      },
      ...(options.cancels === false
        ? {}
        : {
            async cancel(session: string, turn: string | null) {
              cancelled.push({ session, turn })
              return true
            },
          }),
      async stop() {
        outlet?.presence(false)
        outlet = null
      },
    }),
  }
}
